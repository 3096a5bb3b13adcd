import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collect, startFleet, until } from './fleet.ts'

test('a process that is asked to stop lets short runs finish, hands the others back, and they run elsewhere', async (context) => {
  const fleet = await startFleet(context)
  // No instance would look by itself during this test: the others must be woken for a run that is handed back.
  const options = { lease: '10m', drain: '500ms' } as const
  const jobs = { hold: { does: 'hold' as const }, note: { does: 'note' as const } }
  const leaving = fleet.start({ name: 'leaving', options, jobs })
  const leavingId = await leaving.started
  const names = ['held-1', 'held-2', 'held-3']
  for (const name of names) await fleet.client.schedules.create(name, { job: 'hold' })
  for (const name of names) await fleet.client.schedules.trigger(name)
  for (const name of names) await leaving.event('run.started', ({ schedule }) => schedule === name)
  const staying = fleet.start({ name: 'staying', options, jobs })
  const stayingId = await staying.started

  leaving.signal('SIGTERM')

  for (const name of names) await staying.event('run.started', ({ schedule }) => schedule === name)
  const { signal } = await leaving.ended
  assert.equal(signal, 'SIGTERM', 'it ends as it would have without us')
  fleet.openGate()
  await until('all have ended', async () => {
    const fires = await collect(fleet.client.fires.all({ job: 'hold', outcome: 'succeeded' }))
    return fires.length === names.length
  })
  for (const name of names) {
    const runs = (await collect(fleet.client.runs.all({ schedule: name }))).sort((a, b) => a.attempt - b.attempt)
    assert.deepEqual(
      runs.map(({ instance, state, reason }) => [instance, state, reason]),
      [
        [leavingId, 'cancelled', 'handed-back'],
        [stayingId, 'succeeded', 'completed'],
      ],
    )
  }
  const instances = await fleet.client.instances.list()
  assert.equal(instances.find(({ id }) => id === leavingId)!.state, 'left')
})

test('a process that is asked to stop waits for a run that ends in time', async (context) => {
  const fleet = await startFleet(context)
  const jobs = { hold: { does: 'hold' as const } }
  const leaving = fleet.start({ name: 'leaving', jobs })
  await leaving.started
  await fleet.client.schedules.trigger('hold')
  await leaving.event('run.started')
  leaving.signal('SIGTERM')
  await leaving.event('instance.draining')
  fleet.openGate()
  await leaving.ended
  const [run] = await collect(fleet.client.runs.all({ schedule: 'hold' }))
  assert.deepEqual([run!.state, run!.attempt], ['succeeded', 1])
})
