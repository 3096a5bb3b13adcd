import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Election } from '../../src/app/elect.ts'
import { createFleet, type Fleet, type Member } from './fleet.ts'

const nothing = (): void => {}
const never = (): Promise<never> => new Promise(nothing)

async function fleetOf(count: number): Promise<{ readonly fleet: Fleet; readonly members: Member[] }> {
  const fleet = await createFleet()
  const members = await fleet.addMany(count, nothing)
  await fleet.advance('1s')
  return { fleet, members }
}

/** What it asks next is answered so late that the app is stopped and started meanwhile. */
async function restartDuring(fleet: Fleet, { app, link }: Member, begin: () => unknown): Promise<void> {
  const end = link.disturb(({ name }) => (name === 'load' ? { kind: 'slow', answerMs: 3_000 } : null))
  begin()
  await fleet.advance('50ms')
  end()
  const stopped = app.stop()
  await fleet.advance('1s')
  await stopped
  const started = app.start()
  await fleet.advance('1s')
  await started
}

test('a candidate of a stopped app stands again when the app has started', async () => {
  const { fleet, members } = await fleetOf(1)
  const [only] = members
  await restartDuring(fleet, only!, () => only!.app.elect('cache'))
  await fleet.advance('1m')
  assert.equal(only!.app.isLeader('cache'), true)
  fleet.end()
})

test('a caller that waits for a lock or a key when the app stops gets an error, even if it has started again since', async () => {
  const { fleet, members } = await fleetOf(2)
  const [holder, other] = members
  void holder!.app.lock('ledger', never).catch(nothing)
  void holder!.app.once('k', never).catch(nothing)
  await fleet.advance('1s')
  const refused: Promise<void>[] = []
  await restartDuring(fleet, other!, () => {
    const waiting = [other!.app.lock('ledger', { wait: '1h' }, nothing), other!.app.once('k', nothing)]
    refused.push(...waiting.map((one) => assert.rejects(one, { code: 'NOT_STARTED' })))
  })
  // So that time passes, should it ask without a pause.
  other!.link.disturb(() => ({ kind: 'slow', requestMs: 1, answerMs: 1 }))
  await fleet.advance('5s')
  const before = other!.link.calls.get('load') ?? 0
  await fleet.advance('10s')
  const asked = (other!.link.calls.get('load') ?? 0) - before
  assert.ok(asked < 100, `it asked ${asked} times in 10 s`)
  await Promise.all(refused)
  fleet.end()
})

test('an onLost that never ends delays the next leader by ten seconds, not forever', async () => {
  const { fleet, members } = await fleetOf(2)
  const [leader, next] = members
  const election = leader!.app.elect('cache', { onLost: never })
  await fleet.advance('5s')
  next!.app.elect('cache')
  await fleet.advance('1s')
  const resigned = election.resign()
  await fleet.advance('5s')
  assert.deepEqual([leader!.app.isLeader('cache'), next!.app.isLeader('cache')], [false, false])
  await fleet.advance('10s')
  await resigned
  assert.equal(next!.app.isLeader('cache'), true)
  fleet.end()
})

test('a leader may resign in its own callbacks', async () => {
  const { fleet, members } = await fleetOf(2)
  const [leader, next] = members
  const done: string[] = []
  const election: Election = leader!.app.elect('cache', {
    onElected: async () => {
      await leader!.clock.sleep(2_000)
      await election.resign()
      done.push('onElected')
    },
    onLost: async () => {
      await election.resign()
      done.push('onLost')
    },
  })
  await fleet.advance('1s')
  next!.app.elect('cache')
  await fleet.advance('3s')
  assert.deepEqual(done, ['onLost', 'onElected'])
  assert.deepEqual([leader!.app.isLeader('cache'), next!.app.isLeader('cache')], [false, true])
  fleet.end()
})

test('work that its caller no longer wants does not start', async () => {
  const { fleet, members } = await fleetOf(1)
  const [only] = members
  only!.link.disturb(({ name }) => (name === 'claim' ? { kind: 'slow', answerMs: 500 } : null))
  const called = new AbortController()
  const begun: string[] = []
  const refused = assert.rejects(
    only!.app.lock('ledger', { signal: called.signal }, () => void begun.push('section')),
    { name: 'AbortError' },
  )
  const election = only!.app.elect('cache', {
    onElected: () => void begun.push('elected'),
    onLost: () => void begun.push('lost'),
  })
  await fleet.advance('100ms')
  called.abort()
  const resigned = election.resign()
  await fleet.advance('5s')
  await Promise.all([refused, resigned])
  assert.deepEqual(begun, [])
  fleet.end()
})

test('a section that lost its lock and then threw gets LOCK_LOST, with its error as the cause', async () => {
  const { fleet, members } = await fleetOf(2)
  const [sleeper, successor] = members
  const oops = new Error('oops')
  const lost = assert.rejects(
    sleeper!.app.lock('ledger', () => sleeper!.clock.sleep(120_000).then(() => Promise.reject(oops))),
    (error: Error & { code?: string }) => error.code === 'LOCK_LOST' && error.cause === oops,
  )
  await fleet.advance('1s')
  sleeper!.pause()
  const got = successor!.app.lock('ledger', { wait: '10m' }, () => 'mine')
  await fleet.advance('2m')
  assert.equal(await got, 'mine')
  sleeper!.resume()
  await fleet.advance('5m')
  await lost
  fleet.end()
})

test('a drained instance leads no election, and its callers still get their locks and keys', async () => {
  const { fleet, members } = await fleetOf(1)
  const [only] = members
  const drained = fleet.operator.instances.drain(only!.app.instance!)
  await fleet.advance('1m')
  await drained
  only!.app.elect('cache')
  const got = [only!.app.lock('ledger', () => 'lock'), only!.app.once('k', () => 'key')]
  await fleet.advance('1m')
  assert.deepEqual(await Promise.all(got), ['lock', 'key'])
  assert.equal(only!.app.isLeader('cache'), false)
  fleet.end()
})

test('a waiting caller does not ask the store at every wake-up', async () => {
  const { fleet, members } = await fleetOf(2)
  const [holder, other] = members
  void holder!.app.lock('ledger', never).catch(nothing)
  await fleet.advance('1s')
  void other!.app.lock('ledger', { wait: '1h' }, nothing).catch(nothing)
  await fleet.advance('30s')
  const before = other!.link.calls.get('load') ?? 0
  for (let bell = 0; bell < 1_000; bell++) {
    const put = fleet.operator.schedules.put('bell', { job: 'bell', cron: '0 0 1 1 *', input: bell })
    await fleet.advance(10)
    await put
  }
  const asked = (other!.link.calls.get('load') ?? 0) - before
  assert.ok(asked < 400, `it asked ${asked} times in 10 s`)
  fleet.end()
})

test('a caller waits for a key as long as its option allows, and many callers of one process ask as often as one', async () => {
  const { fleet, members } = await fleetOf(2)
  const [doer, crowd] = members
  const done = doer!.app.once('k', () => doer!.clock.sleep(60_000).then(() => 'done'))
  await fleet.advance('1s')
  const called = new AbortController()
  const refused = [
    assert.rejects(crowd!.app.once('k', { wait: '2s' }, nothing), { code: 'LOCK_BUSY' }),
    assert.rejects(crowd!.app.once('k', { signal: called.signal }, nothing), { name: 'AbortError' }),
  ]
  const waiting = Array.from({ length: 100 }, () => crowd!.app.once('k', () => 'again'))
  await fleet.advance('5s')
  called.abort()
  await fleet.advance('5s')
  await Promise.all(refused)
  const before = crowd!.link.calls.get('listRecords') ?? 0
  await fleet.advance('10s')
  const asked = (crowd!.link.calls.get('listRecords') ?? 0) - before
  assert.ok(asked > 0 && asked < 100, `they asked ${asked} times in 10 s`)
  await fleet.advance('2m')
  assert.equal(await done, 'done')
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['done']))
  fleet.end()
})
