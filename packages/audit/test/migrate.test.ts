import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronce } from 'cronce'
import { audit } from '../src/audit.ts'
import { treeOf } from '../src/discover/tree.ts'
import { migration } from '../src/report/migrate.ts'
import type { Example } from '../src/rules/rule.ts'
import { RULES } from '../src/rules/rules.ts'

async function migrated(files: Example): Promise<string> {
  const tree = treeOf(files)
  const { findings, project } = await audit(tree)
  const schedules = project.all('schedule')
  const fingerprints = new Map<never, string>()
  return migration({
    tree,
    rules: RULES,
    schedules,
    findings,
    fingerprints,
    suppressed: 0,
    inBaseline: 0,
    unreadable: [],
    notices: [],
  })
}

const CRON = "import cron from 'node-cron'\n"

/** Declares what was printed with the library itself, which refuses unknown options and names. */
function declare(text: string): void {
  const app = cronce({ store: 'memory:' })
  const body = text
    .split('\n')
    .filter((line) => !/^(?:import |const app|await app)/.test(line))
    .join('\n')
  new Function('app', 'send', body).call({ run: () => {} }, app, () => {})
}

test('a job keeps its expression, zone, name, overlap and handler', async () => {
  const text = await migrated({
    'a.js': `${CRON}cron.schedule('0 3 * * *', async () => {\n  await send()\n}, { name: 'nightly', timezone: 'Europe/Berlin', noOverlap: true })\n`,
  })
  assert.match(text, /^import \{ cronce \} from 'cronce'\n/)
  assert.match(text, /\/\/ a\.js:2 \(node-cron; FLT001/)
  assert.match(
    text,
    /app\.job\('nightly', \{ cron: '0 3 \* \* \*', tz: 'Europe\/Berlin', misfire: 'skip' \}, async \(\) => \{\n {2}await send\(\)\n\}\)\n/,
  )
  assert.match(text, /await app\.start\(\)\n$/)
  declare(text)
})

test('a job whose runs could overlap says so, and a zone that was not stated is pointed out', async () => {
  const text = await migrated({ 'send-mails.js': `${CRON}cron.schedule('*/10 * * * * *', () => send())\n` })
  assert.match(text, /No zone was stated/)
  assert.match(
    text,
    /app\.job\('send-mails', \{ cron: '\*\/10 \* \* \* \* \*', tz: 'UTC', overlap: 'allow', misfire: 'skip' \}, \(\) => send\(\)\)/,
  )
  declare(text)
})

test('names are unique, intervals stay intervals, and a method of Nest stays a method', async () => {
  const text = await migrated({
    'a.service.ts':
      "import { Cron, Interval } from '@nestjs/schedule'\nclass A {\n  @Interval(15000)\n  async run() { await this.b.send() }\n  @Cron('0 3 * * *', { timeZone: 'UTC' })\n  async b1() { await this.b.send() }\n}\n",
    'b.js': `${CRON}cron.schedule('0 3 * * *', () => send(), { name: 'run' })\n`,
  })
  assert.match(
    text,
    /app\.job\('run', \{ every: '15000ms', overlap: 'allow', misfire: 'skip' \}, \(\) => this\.run\(\)\)/,
  )
  assert.match(text, /app\.job\('b1', \{ cron: '0 3 \* \* \*', tz: 'UTC', .*\(\) => this\.b1\(\)\)/)
  assert.match(text, /app\.job\('run-2', /)
  declare(text)
})

test('an object of the library cron: its onTick is the handler', async () => {
  const text = await migrated({
    'a.js':
      "import { CronJob } from 'cron'\nnew CronJob({ cronTime: '0 4 * * *', timeZone: 'UTC', async onTick() { await send() } })\n",
  })
  assert.match(text, /app\.job\('a', \{ cron: '0 4 \* \* \*', tz: 'UTC', .* async \(\) => \{ await send\(\) \}\)/)
  declare(text)
})

test('what cannot be translated is listed with the reason', async () => {
  const text = await migrated({
    'a.js': `${CRON}cron.schedule(process.env.WHEN, () => send())\n`,
    'b.py':
      "from apscheduler.schedulers.background import BackgroundScheduler\nscheduler = BackgroundScheduler()\nscheduler.add_job(report, 'interval', hours=1)\n",
  })
  assert.match(text, /\/\/ a\.js:2: not translated, because .+\./)
  assert.match(text, /\/\/ b\.py:3: not translated, because it is Python/)
  assert.doesNotMatch(text, /app\.job/)
})

test('jobs without findings are not migrated', async () => {
  assert.equal(await migrated({ 'a.js': 'export {}\n' }), '// No in-process job has a finding.\n')
})
