import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronce } from '../../src/index.ts'

const declare = (options: object, handler?: unknown): void => {
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
