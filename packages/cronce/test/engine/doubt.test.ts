import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Member } from './fleet.ts'

const beats = ({ link }: Member): number => link.calls.get('beat') ?? 0
const billing: Declare = (app, member) => app.job('bill', '1 * * * *', () => member.clock.sleep(20_000))

test('an instance that may be taken for dead renews at once, and goes on', async () => {
  const fleet = await createFleet({ latency: () => ({ requestMs: 5, answerMs: 5 }) })
  const member = await fleet.add(billing)
  await fleet.advance('61s')
  const before = beats(member)
  member.link.doubt()
  await fleet.advance('20ms')
  assert.equal(beats(member), before + 1)
  await fleet.advance('30s')
  assert.deepEqual(fleet.events('lease.lost'), [])
  assert.equal(fleet.handled.at(-1)?.how, 'returned')
  fleet.end()
})

test('an instance that may be taken for dead and gets no answer trusts its lease for the grace, and no longer', async () => {
  const fleet = await createFleet()
  const member = await fleet.add(billing)
  await fleet.advance('61s')
  member.link.fail('beat', { kind: 'request-lost' }, 2)
  member.link.doubt()
  await fleet.advance('250ms')
  assert.equal(fleet.handled.at(-1)?.signal.aborted, false)
  await fleet.advance('100ms')
  assert.equal(fleet.handled.at(-1)?.signal.aborted, true)
  assert.equal(fleet.events('lease.lost').length, 1)
  await fleet.advance('10s')
  assert.equal(fleet.events('lease.regained').length, 1)
  fleet.end()
})

test('an answer to what was asked before the doubt, or to a claim, does not end it', async () => {
  const fleet = await createFleet()
  const member = await fleet.add((app) => {
    app.job('long', '1 * * * *', () => member.clock.sleep(120_000))
    app.job('often', { every: '100ms' }, () => {})
  })
  await fleet.advance('65s')
  // The next heartbeat of the loop is under way when the doubt comes, and is answered after it; the heartbeat of the
  // doubt never is.
  member.link.fail('beat', { kind: 'slow', requestMs: 1_000, answerMs: 50 })
  await fleet.advance('5500ms')
  member.link.fail('beat', { kind: 'request-lost' }, 1)
  const claims = member.link.calls.get('claim') ?? 0
  member.link.doubt()
  await fleet.advance('290ms')
  assert.ok((member.link.calls.get('claim') ?? 0) > claims)
  assert.equal(fleet.events('lease.lost').length, 0)
  await fleet.advance('20ms')
  assert.equal(fleet.events('lease.lost').length, 1)
  fleet.end()
})
