import assert from 'node:assert/strict'
import { test } from 'node:test'
import { audit } from '../src/audit.ts'
import { treeOf } from '../src/discover/tree.ts'
import { fixFindings, REPAIRS } from '../src/fix/fix.ts'
import { patchOf } from '../src/fix/patch.ts'
import type { Example } from '../src/rules/rule.ts'
import { RULES } from '../src/rules/rules.ts'

/** The files after the repair of one rule. */
async function fixed(rule: string, files: Example): Promise<Example> {
  const tree = treeOf(files)
  const { findings } = await audit(tree)
  const { changes } = await fixFindings(
    tree,
    findings.filter((finding) => finding.rule === rule),
  )
  return { ...files, ...Object.fromEntries(changes.map(({ path, after }) => [path, after])) }
}

async function reports(rule: string, files: Example): Promise<number> {
  const { findings } = await audit(treeOf(files))
  return findings.filter((finding) => finding.rule === rule).length
}

/** Files beside or instead of those of the example, where its form is one that only a person can repair. */
const REPAIRABLE: Readonly<Record<string, Example>> = {
  FLT007: { 'package.json': '{ "dependencies": { "bullmq": "^5.0.0" } }\n' },
  DEP002: { Dockerfile: 'FROM alpine\nCMD crond -f -l 8\n' },
}

for (const id of Object.keys(REPAIRS)) {
  test(`${id}: the bad example passes the rule after the repair, and a second repair changes nothing`, async () => {
    const rule = RULES.find((each) => each.id === id)!
    const bad = { ...rule.bad, ...REPAIRABLE[id] }
    const once = await fixed(id, bad)
    assert.notDeepEqual(once, bad)
    assert.equal(await reports(id, once), 0)
    assert.deepEqual(await fixed(id, once), once)
  })
}

interface Case {
  readonly rule: string
  readonly path: string
  readonly before: string
  readonly after: string
}

const CRON = "import cron from 'node-cron'\n"
const JOB = '  jobTemplate: {}\n'
const SCHEDULER =
  'from apscheduler.schedulers.background import BackgroundScheduler\nscheduler = BackgroundScheduler()\n'

const CASES: Readonly<Record<string, Case>> = {
  'an option joins options of several lines, in their style': {
    rule: 'DST002',
    path: 'a.js',
    before: `${CRON}cron.schedule('0 3 * * *', () => send(), {\n  name: 'a', // nightly\n})\n`,
    after: `${CRON}cron.schedule('0 3 * * *', () => send(), {\n  name: 'a',\n  timezone: 'UTC', // nightly\n})\n`,
  },
  'an option of a decorator': {
    rule: 'OVL001',
    path: 'a.service.ts',
    before:
      "import { Cron } from '@nestjs/schedule'\nclass A {\n  @Cron('*/5 * * * * *') // often\n  async run() { await this.a.send() }\n}\n",
    after:
      "import { Cron } from '@nestjs/schedule'\nclass A {\n  @Cron('*/5 * * * * *', { waitForCompletion: true }) // often\n  async run() { await this.a.send() }\n}\n",
  },
  'a setting of a manifest stands beside the schedule, and comments stay': {
    rule: 'K8S001',
    path: 'a.yaml',
    before: `# jobs\napiVersion: batch/v1\nkind: CronJob\nspec:\n  schedule: '@hourly' # often\n${JOB}`,
    after: `# jobs\napiVersion: batch/v1\nkind: CronJob\nspec:\n  schedule: '@hourly' # often\n  concurrencyPolicy: Forbid\n${JOB}`,
  },
  'a stated policy is replaced, and line breaks of Windows stay': {
    rule: 'K8S001',
    path: 'a.yaml',
    before: `apiVersion: batch/v1\r\nkind: CronJob\r\nspec:\r\n  schedule: '@hourly'\r\n  concurrencyPolicy: Allow # why\r\n  jobTemplate: {}\r\n`,
    after: `apiVersion: batch/v1\r\nkind: CronJob\r\nspec:\r\n  schedule: '@hourly'\r\n  concurrencyPolicy: Forbid # why\r\n  jobTemplate: {}\r\n`,
  },
  'an argument of a call of several lines': {
    rule: 'APS002',
    path: 'a.py',
    before: `${SCHEDULER}scheduler.add_job(\n    report,  # (daily)\n    'interval',\n    hours=1,\n    id="a)",  # name\n)\n`,
    after: `${SCHEDULER}scheduler.add_job(\n    report,  # (daily)\n    'interval',\n    hours=1,\n    id="a)",\n    replace_existing=True,  # name\n)\n`,
  },
  'a lock around a list of commands': {
    rule: 'CTB002',
    path: 'crontab',
    before: '# sync\n*/2 * * * * cd /app && ./sync.sh >> /var/log/a 2>&1\n',
    after: "# sync\n*/2 * * * * flock -n /tmp/sync-sh.lock sh -c 'cd /app && ./sync.sh >> /var/log/a 2>&1'\n",
  },
  'a lock behind the user column': {
    rule: 'CTB002',
    path: 'etc/cron.d/sync',
    before: '*/2 * * * * app /opt/sync\n',
    after: '*/2 * * * * app flock -n /tmp/sync.lock /opt/sync\n',
  },
  'a repeated job of BullMQ with options': {
    rule: 'FLT007',
    path: 'a.js',
    before:
      "import { Queue } from 'bullmq'\nawait queue.add('a', { x: 1 }, { repeat: { cron: '0 3 * * *' }, attempts: 3 })\n",
    after:
      "import { Queue } from 'bullmq'\nawait queue.upsertJobScheduler('a', { pattern: '0 3 * * *' }, { name: 'a', data: { x: 1 }, opts: { attempts: 3 } })\n",
  },
  'a deadline of a Job is the time to the next fire, and comments stay': {
    rule: 'K8S004',
    path: 'a.yaml',
    before:
      "apiVersion: batch/v1\nkind: CronJob\nspec:\n  jobTemplate:\n    metadata: {}\n    spec: # the Job\n      # its pod\n      template: { spec: {} }\n  schedule: '*/10 * * * *'\n",
    after:
      "apiVersion: batch/v1\nkind: CronJob\nspec:\n  jobTemplate:\n    metadata: {}\n    spec: # the Job\n      # its pod\n      activeDeadlineSeconds: 600\n      template: { spec: {} }\n  schedule: '*/10 * * * *'\n",
  },
  'a deadline of a daily Job is an hour': {
    rule: 'K8S004',
    path: 'a.yaml',
    before: `apiVersion: batch/v1\nkind: CronJob\nspec:\n  schedule: "0 3 * * *" # nightly\n  jobTemplate:\n    spec:\n      template: { spec: {} }\n`,
    after: `apiVersion: batch/v1\nkind: CronJob\nspec:\n  schedule: "0 3 * * *" # nightly\n  jobTemplate:\n    spec:\n      activeDeadlineSeconds: 3600\n      template: { spec: {} }\n`,
  },
  'a secret that is compared in the middle of a condition': {
    rule: 'SLS004',
    path: 'app/api/cron/run/route.ts',
    before:
      'export async function GET(request) {\n  const isAllowed = isLocal(request) || request.headers.get("authorization") === `Bearer ${process.env.CRON_SECRET}` // why\n  if (!isAllowed) return new Response("", { status: 401 })\n  await send()\n}\n',
    after:
      'export async function GET(request) {\n  const isAllowed = isLocal(request) || (!!process.env.CRON_SECRET && request.headers.get("authorization") === `Bearer ${process.env.CRON_SECRET}`) // why\n  if (!isAllowed) return new Response("", { status: 401 })\n  await send()\n}\n',
  },
  'a check that is left out without a secret': {
    rule: 'SLS004',
    path: 'app/api/cron/run/route.ts',
    before:
      'export async function GET(request) {\n  const secret = process.env.CRON_SECRET\n  if (secret && request.headers.get("authorization") !== `Bearer ${secret}`) return new Response("", { status: 401 })\n  await send()\n}\n',
    after:
      'export async function GET(request) {\n  const secret = process.env.CRON_SECRET\n  if (!secret || request.headers.get("authorization") !== `Bearer ${secret}`) return new Response("", { status: 401 })\n  await send()\n}\n',
  },
}

for (const [title, { rule, path, before, after }] of Object.entries(CASES)) {
  test(`${rule}: ${title}`, async () => {
    assert.equal((await fixed(rule, { [path]: before }))[path], after)
  })
}

const LEFT: Readonly<Record<string, readonly [string, Example]>> = {
  'a template with holes': [
    'K8S001',
    {
      'chart/templates/a.yaml': `apiVersion: batch/v1\nkind: CronJob\nspec:\n  schedule: {{ .Values.s | quote }}\n${JOB}`,
    },
  ],
  'a version of the library that does not have the option': [
    'OVL001',
    {
      'package.json': '{ "dependencies": { "node-cron": "^3.0.0" } }\n',
      'a.js': `${CRON}cron.schedule('*/5 * * * * *', async () => { await send() })\n`,
    },
  ],
  'a queue of Bull': [
    'FLT007',
    { 'a.js': "const Queue = require('bull')\nqueue.add('a', {}, { repeat: { cron: '0 3 * * *' } })\n" },
  ],
  'a secret that is written in the source': [
    'SLS004',
    {
      'app/api/cron/run/route.ts':
        "export async function GET(request) {\n  const secret = process.env.CRON_SECRET || 'changeme'\n  if (request.headers.get('authorization') !== `Bearer ${secret}`) return new Response('', { status: 401 })\n  await send()\n}\n",
    },
  ],
  'a template of a Job in one line': [
    'K8S004',
    {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nspec:\n  schedule: '@hourly'\n  jobTemplate: { spec: { template: { spec: {} } } }\n",
    },
  ],
  'a percent sign in a crontab': ['CTB002', { crontab: '* * * * * /opt/a > /tmp/a-\\%d\n' }],
}

for (const [title, [rule, files]] of Object.entries(LEFT)) {
  test(`${rule}: ${title} is left as it is`, async () => {
    assert.equal(await reports(rule, files), 1)
    assert.deepEqual(await fixed(rule, files), files)
  })
}

test('several repairs of one call and one file go together', async () => {
  const tree = treeOf({
    'a.js': `${CRON}cron.schedule('* 3 * * *', async () => { await send() })\ncron.schedule('0 4 * * *', () => send())\n`,
  })
  const { findings } = await audit(tree)
  const { changes } = await fixFindings(tree, findings)
  assert.equal(
    changes[0]!.after,
    `${CRON}cron.schedule('* 3 * * *', async () => { await send() }, { timezone: 'UTC', noOverlap: true })\ncron.schedule('0 4 * * *', () => send(), { timezone: 'UTC' })\n`,
  )
})

test('the patch has hunks with context, and says when a line has no end', () => {
  const before = 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl'
  const after = 'a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n'
  assert.equal(
    patchOf([{ path: 'x', before, after }]),
    '--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -9,4 +9,4 @@\n i\n j\n k\n-l\n\\ No newline at end of file\n+l\n',
  )
})
