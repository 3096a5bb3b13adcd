import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet } from './fleet.ts'

const nothing = (): void => {}

test('a leader that is drained steps down, another one leads, and it may stand again when it is not', async () => {
  const fleet = await createFleet()
  const [drained, other] = await fleet.addMany(2, nothing)
  const told: string[] = []
  const reasons: unknown[] = []
  const electAs = (name: string, { app }: typeof drained & {}) =>
    app.elect('cache', {
      onElected: () => void told.push(`${name} elected`),
      onLost: ({ signal }) => {
        told.push(`${name} lost`)
        reasons.push((signal.reason as { code?: unknown }).code)
      },
    })
  electAs('drained', drained!)
  await fleet.advance('5s')
  const election = electAs('other', other!)
  await fleet.advance('5s')

  await fleet.operator.instances.drain(drained!.app.instance!)
  await fleet.advance('10s')
  assert.deepEqual(told, ['drained elected', 'drained lost', 'other elected'])
  assert.deepEqual([drained!.app.isLeader('cache'), other!.app.isLeader('cache')], [false, true])
  assert.deepEqual(reasons, ['RUN_STOPPED'])

  await fleet.operator.instances.drain(drained!.app.instance!, false)
  const resigned = election.resign()
  await fleet.advance('30s')
  await resigned
  assert.equal(drained!.app.isLeader('cache'), true)
  fleet.end()
})

test('a term that is granted while its instance is being drained ends as well', async () => {
  const fleet = await createFleet()
  const [drained, other] = await fleet.addMany(2, nothing)
  const end = drained!.link.disturb(({ name }) => (name === 'claim' ? { kind: 'slow', answerMs: 3_000 } : null))
  drained!.app.elect('cache')
  await fleet.advance('1s')
  await fleet.operator.instances.drain(drained!.app.instance!)
  other!.app.elect('cache')
  await fleet.advance('3s')
  end()
  await fleet.advance('1m')
  assert.deepEqual([drained!.app.isLeader('cache'), other!.app.isLeader('cache')], [false, true])
  fleet.end()
})

test('a drained instance keeps its locks, and finishes what it has started', async () => {
  const fleet = await createFleet()
  const only = await fleet.add((app, { clock }) => app.job('bill', '1 0 * * *', () => clock.sleep(120_000)))
  const done = only.app.lock('ledger', async ({ signal }) => {
    await only.clock.sleep(120_000, signal)
    return signal.aborted
  })
  await fleet.advance('1m10s')
  await fleet.operator.instances.drain(only.app.instance!)
  await fleet.advance('3m')
  assert.equal(await done, false)
  assert.equal(fleet.handled[0]!.how, 'returned')
  fleet.end()
})
