import { OVL001 } from '../../src/rules/ovl001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(OVL001, {
  bad: {
    'a variable of the run itself': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => { // <<\n  let open = null\n  for (const row of await rows()) {\n    if (open) await close(open)\n    open = row\n  }\n  open = null\n})\n",
    },

    'a job that is awaited into a queue': {
      'cron.service.ts':
        "import { Cron } from '@nestjs/schedule'\nexport class CronService {\n  @Cron('*/2 * * * * *') // <<\n  async handle() {\n    this.logger.debug('tick')\n    await this.queue.add('execute', {})\n  }\n}\n",
    },

    'every ten seconds': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('*/10 * * * * *', async () => { // <<\n  await poll()\n})\n",
    },
    'every minute': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => { // <<\n  await poll()\n})\n",
    },
    'an asynchronous function of the file that is not awaited': {
      'jobs.js':
        "import cron from 'node-cron'\nconst poll = async () => { await fetch(url) }\ncron.schedule('*/10 * * * * *', () => { // <<\n  poll()\n})\n",
    },
    'a decorator of Nest': {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nexport class Jobs {\n  @Cron(CronExpression.EVERY_10_SECONDS) // <<\n  async run() {\n    await this.client.poll()\n  }\n}\n",
    },
    'an expression from the environment': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule(process.env.POLL || '*/5 * * * * *', async () => { // <<\n  await poll()\n})\n",
    },
  },
  good: {
    noOverlap: {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => { await poll() }, { noOverlap: true })\n",
    },
    waitForCompletion: {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nexport class Jobs {\n  @Cron('* * * * *', { waitForCompletion: true })\n  async run() {\n    await this.client.poll()\n  }\n}\n",
    },
    'protect of croner': {
      'a.ts': "import { Cron } from 'croner'\nnew Cron('* * * * *', { protect: true }, async () => { await poll() })\n",
    },
    'a flag': {
      'jobs.js':
        "import cron from 'node-cron'\nlet isRunning = false\ncron.schedule('* * * * *', async () => {\n  if (isRunning) return\n  isRunning = true\n  try {\n    await poll()\n  } finally {\n    isRunning = false\n  }\n})\n",
    },
    'every five minutes': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/5 * * * *', async () => { await poll() })\n",
    },
    'synchronous work': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => { console.log('tick') })\n",
    },
    Bree: { 'a.js': "import Bree from 'bree'\nnew Bree({ jobs: [{ name: 'a', interval: '5s' }] })\n" },
    'a handler that is not known': {
      'a.js': "import cron from 'node-cron'\nimport { poll } from 'elsewhere'\ncron.schedule('* * * * *', poll)\n",
    },
  },
})
