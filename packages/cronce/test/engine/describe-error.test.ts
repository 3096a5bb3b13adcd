import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeError } from '../../src/engine/describe-error.ts'
import { LIMITS } from '../../src/model/limits.ts'
import { createFleet } from './fleet.ts'

describe('the record of an error', () => {
  test('contains what an AggregateError contains', () => {
    const { name, message, stack } = describeError(
      new AggregateError([new TypeError('no host'), 'a text', { reason: 'none' }], 'All promises were rejected'),
    )
    assert.equal(name, 'AggregateError')
    assert.equal(message, 'All promises were rejected: no host; a text; {"reason":"none"}')
    assert.match(stack!, /^AggregateError: All promises were rejected\n/)
    assert.match(stack!, /^contains TypeError: no host\n {4}at .*describe-error\.test\.ts/m)
    assert.match(stack!, /^contains a text$/m)
    assert.match(stack!, /^contains \{"reason":"none"\}$/m)
  })

  test('has a message when an AggregateError has none, as those of Node that could not connect', () => {
    const refused = (address: string) => Object.assign(new Error(`connect ECONNREFUSED ${address}:1`), { code: 'E' })
    const error = Object.assign(new AggregateError([refused('::1'), refused('127.0.0.1')]), { code: 'ECONNREFUSED' })
    const { message, code } = describeError(error)
    assert.equal(message, 'connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1')
    assert.equal(code, 'ECONNREFUSED')
  })

  test('follows causes and contained errors into each other, each beside the error that it belongs to', () => {
    const inner = new AggregateError([new Error('left', { cause: new Error('deep') }), new Error('right')], 'both')
    const { message, stack } = describeError(new Error('outer', { cause: inner }))
    assert.equal(message, 'outer')
    const relations = stack!.split('\n').filter((line) => /^(caused by|contains) /.test(line))
    assert.deepEqual(relations, [
      'caused by AggregateError: both',
      'contains Error: left',
      'caused by Error: deep',
      'contains Error: right',
    ])
  })

  test('has a bound: for many errors, long ones, and those that contain themselves', () => {
    const many = new AggregateError(Array.from({ length: 1_000 }, (_, index) => new Error(`no ${index}`)))
    assert.match(describeError(many).message, /^no 0; .*no 9; and 990 more$/)
    const long = describeError(new AggregateError([new Error('x'.repeat(100_000))]))
    assert.equal(long.message.length, LIMITS.errorMessage)
    assert.equal(long.stack!.length, LIMITS.stack)
    const own = new AggregateError([], 'own')
    own.errors.push(own)
    assert.equal(describeError(own).name, 'AggregateError')
    const cause = new Error('cause')
    cause.cause = cause
    assert.equal(describeError(cause).stack!.match(/caused by/g)!.length, 10)
  })

  test('is in the run, in the detail of its fire and in the event', async () => {
    const fleet = await createFleet()
    await fleet.addMany(1, (app) =>
      app.job('bill', { cron: '1 0 * * *' }, () => Promise.any([Promise.reject(new Error('no paper'))])),
    )
    await fleet.advance('5m')
    const { items: runs } = await fleet.operator.runs.list()
    const { items: fires } = await fleet.operator.fires.list()
    assert.equal(runs[0]!.error!.message, 'All promises were rejected: no paper')
    assert.equal(fires[0]!.detail, 'All promises were rejected: no paper')
    assert.match(fleet.events('run.ended')[0]!.error!.stack!, /^contains Error: no paper$/m)
    fleet.end()
  })
})
