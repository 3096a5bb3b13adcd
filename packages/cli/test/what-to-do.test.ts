import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { cronce } from 'cronce'
import { ask } from './cronce.ts'

let folder: string
let store: string

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'cronce-what-to-do-'))
  store = `sqlite:${join(folder, 'cronce.db')}`
})
after(() => rmSync(folder, { recursive: true }))

function newApp(deployment: string) {
  return cronce({ store, app: 'shop', deployment, logger: false, signals: false })
}

/** Runs the schedule once and waits until its fire has ended. */
async function runOnce(app: ReturnType<typeof newApp>, schedule: string): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    app.on('fire.ended', (event) => (event.schedule === schedule ? resolve() : undefined))
  })
  await app.schedules.trigger(schedule)
  await ended
}

test('runs shows the innermost cause, counts lateness from the due time, and names are quoted in commands', async () => {
  const app = newApp('v1')
  app.job('flaky sync', { retry: { attempts: 1, backoff: { base: '1100ms', jitter: 0 } } }, () => {
    const reason = new Error('null value in column "cents"')
    throw new Error('Failed query: insert into invoices values ($1) params: 4711', { cause: reason })
  })
  app.job('never ran', {}, () => {})
  await app.start()
  await runOnce(app, 'flaky sync')
  await app.stop()
  const { stdout } = await ask(['runs', 'flaky sync', '--store', store])
  assert.match(stdout, /null value in column "cents"/)
  assert.doesNotMatch(stdout, /4711/)
  const [second] = JSON.parse((await ask(['runs', 'flaky sync', '--json', '--store', store])).stdout).items
  assert.equal(second.attempt, 2)
  assert.match(stdout.split('\n')[1]!, /\s\d+(\.\d+)?s\s/, 'more than a second after its due time')
  const missing = await ask(['show', 'never ran', '--store', store])
  assert.match(missing.stderr, /cronce next "never ran"\n/)
})

test('an error of cronce in a handler is shown with its code and its hint', async () => {
  const app = newApp('v1')
  app.job('asker', {}, () => app.schedules.pause('no such schedule'))
  await app.start()
  await runOnce(app, 'asker')
  await app.stop()
  const { stdout } = await ask(['show', 'asker', '--store', store])
  assert.match(stdout, /CronceError \[SCHEDULE_NOT_FOUND\]: There is no schedule "no such schedule"\. \S+/)
})

test('after a deploy that removed a job, list shows that it is about to be retired', async () => {
  const first = newApp('v2')
  first.job('mail', { every: '1h' }, () => {}).job('other', {}, () => {})
  await first.start()
  await first.stop()
  const second = newApp('v3')
  second.job('other', {}, () => {})
  await second.start()
  const db = new DatabaseSync(join(folder, 'cronce.db'))
  const since = Date.now() - 48_000
  db.exec(`update cronce_schedules set state = json_set(state, '$.nextAt', ${since}) where id = 'mail'`)
  db.close()
  const during = await ask(['list', 'mail', '--store', store])
  const doctor = await ask(['doctor', '--store', store])
  await second.stop()
  const afterwards = await ask(['list', 'mail', '--store', store])
  assert.match(during.stdout, /retires soon/)
  assert.match(doctor.stdout, /note +orphans +mail left the code and will be retired/)
  assert.match(afterwards.stdout, /overdue/, 'no process is left that could retire it')
})

test('a schedule is named without a flag', async () => {
  const { stderr } = await ask(['fires', '--schedule', 'mail', '--store', store])
  assert.match(
    stderr,
    /Unknown flag --schedule.*\nhint: A schedule is named without a flag, behind the command: cronce fires/,
  )
})

test('fires --verify prints since when it checks that nothing is missing', async () => {
  for (const [deployment, every] of [
    ['v4', '50ms'],
    ['v5', '70ms'],
  ] as const) {
    const app = newApp(deployment)
    app.job('changed', { every }, () => {})
    let count = 0
    const enough = new Promise<void>((resolve) => {
      app.on('fire.ended', () => (++count === 4 ? resolve() : undefined))
    })
    await app.start()
    await enough
    await app.stop()
  }
  const { stdout } = await ask(['fires', 'changed', '--verify', '--store', store])
  assert.match(
    stdout,
    /instants? of the rules since .* looked for: completeness is checked since each rule last changed\./,
  )
})
