import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronce } from '../../src/index.ts'

const declare = (options: unknown, handler?: unknown): void => {
  const app = cronce({ store: 'memory:', logger: false })
  const job = app.job as (name: string, options: unknown, handler?: unknown) => unknown
  job('backup', options, handler)
}

test('a job has one thing to run: a function or one target', () => {
  assert.throws(() => declare({ cron: '0 3 * * *' }), { code: 'HANDLER_MISSING', hint: /a file, a command or http/ })
  assert.throws(() => declare({ command: ['df'] }, () => {}), { code: 'OPTION_CONFLICT' })
  assert.throws(() => declare({ command: ['df'], http: { url: 'https://example.com' } }), { code: 'OPTION_CONFLICT' })
  assert.throws(() => declare({ cron: '0 3 * * *', cwd: '/tmp' }, () => {}), { code: 'OPTION_UNKNOWN' })
  assert.throws(() => declare({ command: ['df'], guarantee: 'exactly-once' }), { code: 'OPTION_CONFLICT' })
  declare({ cron: '0 3 * * *', command: ['df'] })
})

test('an unknown option of a job is refused with the name that was meant, also that of a target', () => {
  const cases: [options: object, hint: RegExp][] = [
    [{ cron: '0 3 * * *', comand: ['df'] }, /^Did you mean command\?$/],
    [{ cron: '0 3 * * *', fiel: './task.js' }, /^Did you mean file\?$/],
    [{ crn: '0 3 * * *', command: ['df'] }, /^Did you mean cron\?$/],
    [{ cron: '0 3 * * *', zzzzzzzz: 1 }, /^The options here are .*cron, .*command/],
  ]
  for (const [options, hint] of cases) assert.throws(() => declare(options), { code: 'OPTION_UNKNOWN', hint })
})

test('the options of a job are an expression or an object', () => {
  const wrong: [options: unknown, message: RegExp][] = [
    [[], /options of job "backup" can't be an empty array/],
    [['0 3 * * *'], /can't be an array/],
    [5, /can't be 5/],
    [new Map(), /can't be an object/],
  ]
  for (const [options, message] of wrong) {
    assert.throws(() => declare(options, () => {}), { code: 'OPTION_INVALID', message, hint: /app\.schedules\.create/ })
  }
  declare('0 3 * * *', () => {})
  declare({}, () => {})
})
