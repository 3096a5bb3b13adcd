import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { CronceError, cronce } from '../../src/index.ts'

const app = () => cronce({ store: 'memory:', signals: false, logger: false })
const wrong = { cron: '0 3 * * *', timezone: 'Europe/London' } as unknown as { cron: string }

test('a printed error begins with code, message and hint, then the line of the caller', async () => {
  const errors = [
    thrownBy(() => app().job('x', wrong, () => {})),
    thrownBy(() => cronce({ store: 'memory:', timezone: 'x' } as unknown as { store: string })),
    await app()
      .schedules.create('x', { job: 'y', ...wrong })
      .catch((error: unknown) => error),
    await app()
      .schedules.put('x', { job: 'y', ...wrong })
      .catch((error: unknown) => error),
    await app()
      .schedules.pause('')
      .catch((error: unknown) => error),
    thrownBy(() => app().job('x', '0 3 * *', () => {})),
  ]
  for (const error of errors) {
    assert.ok(error instanceof CronceError)
    const { name, code, message, hint } = error
    const printed = inspect(error)
    assert.ok(
      printed.startsWith(`${name} [${code}]: ${message}${message.includes('\n') ? '\n' : ' '}${hint}\n    at `),
      printed,
    )
    const [frame] = printed.slice(printed.indexOf('\n    at ') + 1).split('\n')
    assert.match(frame!, /printed-error\.test\.ts/)
  }
})

test('a start that is refused names the line of the caller first', async () => {
  const refused = cronce({ store: 'sqlite:/no/such/folder/cronce.db', signals: false, logger: false })
  try {
    await refused.job('x', {}, () => {}).start()
    assert.fail('the store has no folder')
  } catch (error) {
    assert.ok(error instanceof CronceError, String(error))
    assert.match(error.stack!.split('\n    at ')[1]!, /printed-error\.test\.ts/)
  }
})

test('message, JSON and hint stay apart', () => {
  const error = thrownBy(() => app().job('x', wrong, () => {})) as CronceError
  assert.ok(!error.message.includes(error.hint!))
  assert.equal(JSON.stringify(error).split("Write tz: 'Europe/London'.").length, 2)
})

test('frames are as many as the application wants, and an error without a caller keeps its own', () => {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 1
  try {
    const { stack } = thrownBy(() => app().job('x', wrong, () => {})) as CronceError
    assert.equal(stack?.split('\n').length, 2)
    assert.equal(Error.stackTraceLimit, 1)
  } finally {
    Error.stackTraceLimit = limit
  }
  assert.match(
    String(new CronceError('STORE_FAILED', 'It failed.').stack),
    /^CronceError \[STORE_FAILED\]: It failed\.\n {4}at /,
  )
})

test('Node.js prints the fix of an uncaught error in its first line', () => {
  const code = `
    import { cronce } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)}
    cronce({ store: 'memory:' }).job('x', { cron: '0 3 * * *', timezone: 'Europe/London' }, () => {})`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  assert.match(
    stderr,
    /\nCronceError \[OPTION_UNKNOWN\]: Job "x": There is no option "timezone" .* Write tz: 'Europe\/London'\.\n/,
  )
})

function thrownBy(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return null
}
