import { FLT001 } from '../../src/rules/flt001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(FLT001, {
  bad: {
    'a decorator from a folder of the package': {
      'cron.service.ts':
        "import { Cron } from '@nestjs/schedule/dist'\nexport class CronService {\n  @Cron('0 * * * *') // <<\n  async sync() {\n    await this.search.upload()\n  }\n}\n",
    },
    'a job that drives a browser': {
      'cron.service.ts':
        "import { Cron } from '@nestjs/schedule'\nimport puppeteer from 'puppeteer'\nexport class CronService {\n  @Cron('0 * * * *') // <<\n  async scores() {\n    const page = await (await puppeteer.launch()).newPage()\n    await this.matches.update(await page.evaluate(() => document.querySelector('.score').textContent))\n  }\n}\n",
    },

    'a library that is required inside try': {
      'jobs.js':
        "let cron\ntry {\n  cron = require('node-cron')\n} catch {\n  cron = null\n}\nif (cron) {\n  cron.schedule('0 * * * *', async () => { // <<\n    await send()\n  })\n}\n",
    },
    'croner with options before the function': {
      'jobs.js':
        "import { Cron } from 'croner'\nconst options = { name: 'a' }\nnew Cron('0 * * * *', options, wrap(send)) // <<\n",
    },
    'a default import': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send()) // <<\n" },
    'a destructured require': {
      'a.js': "const { CronJob } = require('cron')\nnew CronJob({ cronTime: '0 3 * * *', onTick: send }) // <<\n",
    },
    'a decorator of Nest': {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nexport class Jobs {\n  @Cron(CronExpression.EVERY_HOUR) // <<\n  async run() {\n    await this.mailer.send()\n  }\n}\n",
    },
    'a namespace import of node-schedule': {
      'a.ts': "import * as schedule from 'node-schedule'\nschedule.scheduleJob('0 1 * * *', () => send()) // <<\n",
    },
    'croner with a function': {
      'a.ts': "import { Cron } from 'croner'\nnew Cron('0 * * * *', { timezone: 'UTC' }, async () => send()) // <<\n",
    },
    'a job of Bree': {
      'a.js':
        "const Bree = require('bree')\nconst bree = new Bree({ jobs: [{ name: 'mail', interval: '5m' }] }) // <<\nbree.start()\n",
    },
    'the call inside a wrapper': {
      'a.ts':
        "import cron from 'node-cron'\nexport function every(expression: string, work: () => void) {\n  cron.schedule(expression, () => work()) // <<\n}\n",
      'b.ts': "import { every } from './a'\nevery('0 * * * *', () => send())\n",
    },
    'a flag of one process': {
      'jobs.js':
        "import cron from 'node-cron'\nlet isRunning = false\ncron.schedule('* * * * *', async () => { // <<\n  if (isRunning) return\n  isRunning = true\n  await charge()\n  isRunning = false\n})\n",
    },
    'NODE_ENV around the registration': {
      'jobs.js':
        "import cron from 'node-cron'\nif (process.env.NODE_ENV === 'production') {\n  cron.schedule('0 * * * *', () => send()) // <<\n}\n",
    },
    'a switch that is on unless it is turned off': {
      'jobs.js':
        "import cron from 'node-cron'\nif (process.env.ENABLE_CRON !== 'false') {\n  cron.schedule('0 * * * *', () => send()) // <<\n}\n",
    },
    'a mutex in memory': {
      'a.js':
        "import cron from 'node-cron'\nimport { Mutex } from 'async-mutex'\nconst mutex = new Mutex()\ncron.schedule('0 * * * *', () => mutex.runExclusive(() => send())) // <<\n",
    },
    'an interval of Nest': {
      'a.ts':
        "import { Interval } from '@nestjs/schedule'\nexport class Jobs {\n  @Interval(60000) // <<\n  async run() {\n    await this.mailer.send()\n  }\n}\n",
    },
    'a copy of node-cron in the repository': {
      'a.js': "const cron = require('../libs/nodeCron')\ncron.schedule(settings.expression, () => send()) // <<\n",
    },
  },
  good: {
    'a job without a function, which only computes times': {
      'a.js': "const { CronJob } = require('cron')\nconst next = (expression) => new CronJob(expression).nextDate()\n",
    },
    'a job in a variable of which only dates are asked': {
      'a.js':
        "function next(expression) {\n  const { CronJob } = require('cron')\n  const job = new CronJob(expression)\n  return job.nextDate().toDate()\n}\n",
    },
    'an instant that is moved to the future': {
      'a.ts':
        "import { scheduleJob } from 'node-schedule'\nexport function restore(row: Row) {\n  const runAt = new Date(row.runAt)\n  const scheduleDate = runAt > new Date() ? runAt : new Date(Date.now() + 10000)\n  scheduleJob(scheduleDate, async () => { await send(row) })\n}\n",
    },
    'an instant with a default': {
      'a.ts':
        "import { scheduleJob } from 'node-schedule'\nexport function restore(row: Row) {\n  const moment = row.moment ?? new Date(Date.now() + 10000)\n  scheduleJob(moment, async () => { await send(row) })\n}\n",
    },
    'a job that measures this machine, in functions of another module': {
      'disk.ts':
        "import { promisify } from 'node:util'\nimport { exec } from 'node:child_process'\nconst execPromise = promisify(exec)\nexport async function size(dir: string) {\n  const { stdout } = await execPromise('du -sb .', { cwd: dir })\n  return Number(/^(\\d+)/.exec(stdout)?.[1] ?? 0)\n}\n",
      'usage.ts':
        "import { CronJob } from 'cron'\nimport { size } from './disk.ts'\nlet used = 0\nnew CronJob('*/5 * * * *', async () => { used = await size('/data') }).start()\n",
    },

    'a command that measures the disk of this machine': {
      'jobs.js':
        "import cron from 'node-cron'\nimport { exec } from 'node:child_process'\nimport { promisify } from 'node:util'\nconst execPromise = promisify(exec)\nlet size = 0\nasync function dirSize(path) {\n  const { stdout } = await execPromise(`du -s ${path}`)\n  return Number(stdout.split(' ')[0])\n}\ncron.schedule('0 * * * *', async () => {\n  size = await dirSize('/data')\n})\n",
    },
    'SET NX in the handler': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', async () => {\n  if (!(await redis.set('lock', '1', { NX: true, EX: 600 }))) return\n  await send()\n})\n",
    },
    'a helper of another module': {
      'jobs.js':
        "import cron from 'node-cron'\nimport { withLock } from './lock.js'\ncron.schedule('0 * * * *', () => withLock('send', send))\n",
      'lock.js':
        'export async function withLock(name, work) {\n  const row = await Lock.findOneAndUpdate({ name, expiresAt: { $lt: new Date() } }, { $set: { name } }, { upsert: true })\n  if (row) await work()\n}\n',
    },
    'two wrappers around the handler': {
      'jobs.js':
        "import cron from 'node-cron'\nimport { withLock } from './lock.js'\nconst safe = (name, fn) => async () => { try { await fn() } catch {} }\ncron.schedule('0 * * * *', safe('a', withLock('a', send)))\n",
      'lock.js':
        "export const withLock = (name, fn) => async () => {\n  if (await redis.set(name, '1', 'EX', 60, 'NX')) await fn()\n}\n",
    },
    'a lock that cannot be resolved': {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nexport class Jobs {\n  @Cron('0 * * * *')\n  async run() {\n    if (!(await this.locks.tryLock('run', 60))) return\n    await this.mailer.send()\n  }\n}\n",
    },
    'a leader flag': {
      'a.ts':
        "import { CronJob } from 'cron'\nconst tick = () => {\n  if (!settings.isLeader) return\n  send()\n}\nnew CronJob('0 * * * *', tick)\n",
    },
    'an atomic claim of rows in a service': {
      'a.js':
        "import cron from 'node-cron'\nimport { work } from './service.js'\ncron.schedule('* * * * *', () => work())\n",
      'service.js':
        "export async function work() {\n  const rows = await db.query('SELECT * FROM jobs FOR UPDATE SKIP LOCKED')\n  for (const row of rows) await send(row)\n}\n",
    },
    'a queue with a stable job id': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => queue.add('report', {}, { jobId: 'report' }))\n",
    },
    'a coordinator': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send(), { distributed: true, runCoordinator: coordinator })\n",
    },
    'a timeout of Nest': {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nexport class Jobs {\n  @Timeout(5000)\n  async run() {\n    await this.mailer.send()\n  }\n}\n",
    },
    'a single date': {
      'a.js': "import schedule from 'node-schedule'\nschedule.scheduleJob(new Date(2030, 1, 1), () => send())\n",
    },
    'a library that only computes times': {
      'a.ts':
        "import { sendAt, CronTime } from 'cron'\nimport { Cron } from 'croner'\nexport const next = sendAt('0 * * * *')\nexport const other = new Cron('0 * * * *').nextRun()\n",
    },
    "a module of one's own with the name of a library": {
      'a.js':
        "import cron from './cron.js'\nimport { scheduleJob } from './jobs.js'\ncron.schedule('0 * * * *', () => send())\nscheduleJob('0 * * * *', () => send())\n",
      'cron.js': 'export default { schedule() {} }\n',
    },
    'a commented decorator': {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nexport class Jobs {\n  // @Cron('0 * * * *')\n  async run() {}\n}\n",
    },
    'a test': { 'a.test.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n" },
    'a handler that measures its own disk': {
      'a.ts':
        "import { CronJob } from 'cron'\nimport { statfs } from 'node:fs/promises'\nlet free = 0\nnew CronJob('0 * * * *', async () => {\n  const stats = await statfs('/')\n  free = stats.bavail\n})\n",
    },
    'registration after the lock of the leader': {
      'jobs.js':
        "import cron from 'node-cron'\nconst lock = await tryLock('leader')\nif (lock) {\n  cron.schedule('0 * * * *', () => send())\n}\n",
    },
    'browser code': {
      'a.tsx': "'use client'\nimport { Cron } from 'croner'\nnew Cron('0 * * * *', () => refresh())\n",
    },
  },
})
