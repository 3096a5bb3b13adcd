import assert from 'node:assert/strict'
import { test } from 'node:test'
import { audit } from '../../src/audit.ts'
import { treeOf } from '../../src/discover/tree.ts'

/** A name of each format that is read. */
const NAMES = [
  'a.yaml',
  'a.py',
  'crontab',
  'a.sh',
  'a.timer',
  'Dockerfile',
  'Procfile',
  'ecosystem.config.js',
  'ecosystem.json',
  'pm2.yml',
  'vercel.json',
  'wrangler.toml',
  'a.tf',
  '.github/workflows/a.yml',
]
/** Words that let a file pass the first look of every reader. */
const WORDS =
  'kind: CronJob\n[Timer]\nFROM x\n* * * * * crontab\ncrons "crons" schedule script celery\nschedule_expression = \nservices:\n'

/** No file ends the audit; a file that is left out is reported. */
async function unreadableOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  return (await audit(treeOf(files))).unreadable.map(({ path }) => path)
}

for (const [title, garbage] of Object.entries({
  'control characters': '\u0000\u0001\ufffd\u001b[31m',
  'open brackets and quotes': '{{{[[[(((:::- - - "\' <<EOF $(( \\',
  'a line of a hundred thousand characters': 'a: '.repeat(33_000),
  'open actions of a template': 'a: {{ b\n'.repeat(2000),
  'nested brackets': '['.repeat(10_000),
  'nothing at all': '',
})) {
  test(`no reader fails for good on ${title}`, async () => {
    await unreadableOf(Object.fromEntries(NAMES.map((name) => [name, `${WORDS}${garbage}`])))
  })
}

test('aliases of aliases are not expanded', async () => {
  const levels = Array.from({ length: 60 }, (_, level) => `b${level}: &b${level} [${`*b${level - 1},`.repeat(9)} x]`)
  assert.deepEqual(await unreadableOf({ 'a.yaml': `kind: CronJob\n${levels.join('\n')}\nservices: *b59\n` }), [])
})

test('mappings that merge one another in a circle are read', async () => {
  const services = 'services:\n  a: &a\n    <<: *b\n    image: x\n  b: &b\n    <<: *a\n    image: y\n'
  assert.deepEqual(await unreadableOf({ 'compose.yaml': services }), [])
})

test('a file that is too large is reported, and the others are read', async () => {
  const files = {
    'big.yaml': `kind: CronJob\n${'a: b\n'.repeat(400_000)}`,
    'big.py': `import apscheduler\n${'a = 1\n'.repeat(300_000)}`,
    crontab: '*/2 * * * * /opt/sync\n'.repeat(100_000),
    'cron.d/app': '*/2 * * * * root /opt/sync\n',
  }
  const { unreadable, findings } = await audit(treeOf(files))
  assert.deepEqual(new Set(unreadable.map(({ path }) => path)), new Set(['big.yaml', 'big.py', 'crontab']))
  assert.equal(findings.filter(({ rule }) => rule === 'CTB002').length, 1)
})

test('a module with thousands of jobs in one function is read', async () => {
  const jobs = "    scheduler.add_job(report, 'cron', hour=3)\n".repeat(3000)
  const module = `from apscheduler.schedulers.background import BackgroundScheduler\nscheduler = BackgroundScheduler()\ndef start():\n${jobs}`
  const { findings } = await audit(treeOf({ 'a.py': module }))
  assert.equal(findings.filter(({ rule }) => rule === 'APS002').length, 3000)
})
