import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare } from './fleet.ts'

const billing: Declare = (app, { clock }) => app.job('bill', '1 * * * *', () => clock.sleep(90_000))

test('two machines from one snapshot: one goes on under a new id, and each fire runs once', async () => {
  const fleet = await createFleet({ latency: () => ({ requestMs: 5, answerMs: 5 }) })
  const original = await fleet.add(billing)
  const clone = await fleet.add(billing, { cloneOf: original })
  assert.equal(clone.app.instance, original.app.instance)
  await fleet.advance('30s')
  assert.equal(fleet.events('instance.fenced').length, 1)
  assert.notEqual(clone.app.instance, original.app.instance)
  assert.deepEqual(
    (await fleet.operator.instances.list()).map(({ state }) => state),
    ['live', 'live'],
  )
  await fleet.advance('3h')
  assert.deepEqual(
    fleet.handled.map(({ attempt, how }) => [attempt, how]),
    Array.from({ length: 3 }, () => [1, 'returned']),
  )
  assert.equal(fleet.events('instance.fenced').length, 1)
  fleet.end()
})

test('heartbeats that are lost, late, repeated or overtaken do not look like a clone', async () => {
  for (const kind of ['request-lost', 'answer-lost', 'applied-then-throws', 'throws'] as const) {
    const fleet = await createFleet({ latency: () => ({ requestMs: 5, answerMs: 5 }) })
    const member = await fleet.add(billing)
    await fleet.advance('61s')
    for (let nth = 0; nth < 4; nth++) {
      member.link.fail('beat', { kind }, 2)
      member.link.doubt()
      await fleet.advance('250ms')
      member.link.doubt()
      await fleet.advance('20s')
    }
    assert.deepEqual(fleet.events('instance.fenced'), [], kind)
    fleet.end()
  }
})

test('a heartbeat that arrives after a later one, or twice, changes nothing', async () => {
  const fleet = await createFleet()
  const member = await fleet.add(billing)
  await fleet.advance('61s')
  member.link.fail('beat', { kind: 'slow', requestMs: 100, answerMs: 0 })
  member.link.doubt()
  member.link.doubt()
  await fleet.advance('1s')
  member.link.fail('beat', { kind: 'duplicate', againMs: 7_000 }, 3)
  await fleet.advance('1m')
  assert.deepEqual([fleet.events('instance.fenced'), fleet.events('lease.lost')], [[], []])
  assert.deepEqual(
    fleet.handled.map(({ attempt, signal }) => [attempt, signal.aborted]),
    [[1, false]],
  )
  fleet.end()
})
