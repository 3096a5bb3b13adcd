import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { type CronceError, cronce } from '../../src/index.ts'

const Customer = v.object({ customer: v.string() })

function newApp() {
  return cronce({ store: 'memory:', signals: false, logger: false })
}

test('a job with a trigger and an input that its schema refuses is refused when it is declared', () => {
  assert.throws(
    // @ts-expect-error the schema needs an input
    () => newApp().job('billing', { cron: '0 3 * * *', schema: Customer }, () => {}),
    (error: CronceError) => {
      assert.equal(error.code, 'INPUT_INVALID')
      assert.match(error.message, /^Job "billing" has no input, which its schema needs for every fire: .*Object/)
      assert.equal(error.hint, 'Add input: { … } beside schema, or let the schema accept null.')
      return true
    },
  )
  assert.throws(
    // @ts-expect-error a number is not a text
    () => newApp().job('billing', { every: '1h', schema: Customer, input: { customer: 5 } }, () => {}),
    /The input of job "billing" does not fit its schema: customer: /,
  )
})

test('a schema that accepts nothing needs no input, nor does a job without a trigger', () => {
  newApp()
    .job('perhaps', { every: '1h', schema: v.optional(Customer) }, () => {})
    .job('null', { every: '1h', schema: v.nullable(Customer) }, () => {})
    .job('triggered', { schema: Customer }, (run) => run.fire.input.customer)
    .job('given', { at: 0, schema: Customer, input: { customer: 'ada' } }, (run) => run.fire.input.customer)
})

test('a schema that answers later is asked when the app starts', async () => {
  const Known = v.pipeAsync(
    Customer,
    v.checkAsync(async ({ customer }) => customer === 'ada', 'no such customer'),
  )
  const app = newApp().job('billing', { every: '1h', schema: Known, input: { customer: 'bob' } }, () => {})
  await assert.rejects(
    app.start().finally(() => app.stop()),
    /The input of job "billing" does not fit its schema: no such customer/,
  )
  const fine = newApp().job('billing', { every: '1h', schema: Known, input: { customer: 'ada' } }, () => {})
  await fine.start()
  await fine.stop()
})
