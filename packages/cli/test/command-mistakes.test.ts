import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Cronce, cronce } from 'cronce'
import { ask } from './cronce.ts'

/** Mistakes on the command line: each is reported with its fix. */

let folder: string
let store: string
let app: Cronce
let release: () => void

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cronce-mistakes-'))
  store = `sqlite:${join(folder, 'jobs.db')}`
  app = cronce({ store, app: 'test', logger: false, signals: false })
  const started = Promise.withResolvers<void>()
  const { promise, resolve } = Promise.withResolvers<void>()
  release = resolve
  app.job('billing', { every: '1h', timeout: '1h' }, () => {})
  app.job('long', { timeout: '1h' }, async () => {
    started.resolve()
    await promise
  })
  await app.start()
  await app.schedules.trigger('long')
  await started.promise
})

after(async () => {
  release()
  await app.stop()
  rmSync(folder, { recursive: true, force: true })
})

const say = (...args: string[]) => ask(args, { CRONCE_STORE: store })

const QUOTES =
  /--cron is only "0", one field of an expression\.\nhint: Put the expression in quotes: --cron "0 3 \* \* \*"\./
const CASES: readonly (readonly [line: string, told: RegExp])[] = [
  [
    'show billing 123',
    /"123" is neither the token of a run nor a due time\.\nhint: See the tokens: cronce runs billing/,
  ],
  ['schedule put foo --job billing --cron 0 3 * * *', QUOTES],
  ['exec --name x --cron 0 3 1 1 1 -- true', QUOTES],
  ['activity --since 1h', /Unknown flag --since\. Did you mean --from\?/],
  ['duplicates --since 1h', /Unknown flag --since\. Did you mean --from\?/],
  ['next billing --limit 3', /Unknown flag --limit\. Did you mean --count\?/],
  ['runs --count 3', /Unknown flag --count\. Did you mean --limit\?/],
  ['logs billing --since 1h', /Unknown flag --since\.\n/],
  ['logs billing --tail 5', /Unknown flag --tail\. Did you mean --lines\?/],
  ['fires --status failed', /Unknown flag --status\. Did you mean --outcome\?/],
  ['list --status paused', /Unknown flag --status\. Did you mean --state\?/],
  ['fires --state missed', /Unknown flag --state\. Did you mean --outcome\?/],
  ['runs --last 5', /Unknown flag --last\. Did you mean --limit\?/],
  ['pause billing --for 5m', /Unknown flag --for\. Did you mean --until\?/],
  ['exec --name x --schedule 5m -- true', /Unknown flag --schedule\. Did you mean --cron\?/],
  ['schedule put foo --job billing --schedule 5m', /Unknown flag --schedule\. Did you mean --cron\?/],
  ['schedule put foo --job billing --interval 5m', /Unknown flag --interval\. Did you mean --every\?/],
  ['schedule put foo --job billing --every 5 --dry-run', /--every can't be 5: .*\nhint: .*Write --every '5s'/],
  ['schedule put foo --job billing --cron @reboot --dry-run', /--cron can't be "@reboot"/],
  ['schedule put foo --job billing --cron 5h30m --dry-run', /\nhint: Write --every 5h30m\.\n/],
  ['rollback', /Unknown command "rollback"\. Did you mean deployments activate\?/],
  ['kill billing', /Unknown command "kill"\. Did you mean cancel\?/],
  ['edit billing', /Unknown command "edit"\. Did you mean schedule put\?/],
  ['resolve billing', /Unknown command "resolve"\. Did you mean step resolve\?/],
  ['enable billing', /Unknown command "enable"\. Did you mean resume\?/],
  ['disable billing', /Unknown command "disable"\. Did you mean pause\?/],
  ['schedule list', /"list" is a command of its own\.\nhint: Write cronce list\./],
  ['schedule pause billing', /hint: Write cronce pause NAME\./],
]

test(`each of ${CASES.length} mistakes on the command line is reported with its fix`, async () => {
  for (const [line, told] of CASES) {
    const { status, stderr } = await say(...line.split(' '))
    assert.equal(status, 2, `${line}\n${stderr}`)
    assert.match(stderr, told, line)
  }
})

test('list takes the word that its column prints, and names an empty namespace', async () => {
  assert.equal((await say('list', '--state', 'running', '-o', 'name')).stdout, 'long\n')
  assert.equal((await say('list', '--state', 'active', '-o', 'name')).stdout, 'billing\nlong\n')
  const { stdout, stderr } = await say('list', '--namespace', 'typo')
  assert.match(`${stdout}${stderr}`, /No schedules in the namespace "typo"\./)
})

test('logs and doctor know what cronce exec keeps and takes', async () => {
  const ran = await say('exec', '--name', 'tick', '--due', String(Date.now()), '--', 'true')
  assert.equal(ran.status, 0, ran.stderr)
  const { stderr } = await say('logs', 'tick')
  assert.match(stderr, /cronce exec leaves the output to its caller: none is kept\./)
  const doctor = await say('doctor', '--json')
  const { findings } = JSON.parse(doctor.stdout) as { findings: { check: string; hint?: string; fix?: string }[] }
  assert.match(
    JSON.stringify(findings.find(({ check }) => check === 'timeouts')),
    /Set one: cronce exec --timeout 10m\./,
  )
})
