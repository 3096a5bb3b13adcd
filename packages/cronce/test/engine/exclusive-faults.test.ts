import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketOf } from '../../src/model/bucket.ts'
import { createFleet, type Fleet, type Member } from './fleet.ts'

const nothing = (): void => {}

async function fleetOf(count: number): Promise<{ readonly fleet: Fleet; readonly members: Member[] }> {
  const fleet = await createFleet()
  const members = await fleet.addMany(count, nothing)
  await fleet.advance('1s')
  return { fleet, members }
}

function calls({ link }: Member): number {
  return [...link.calls.values()].reduce((sum, count) => sum + count, 0)
}

/** The claim is applied, and neither its answer nor the next read comes back: this instance does not know of it. */
function loseClaim({ link }: Member): void {
  let isLost = false
  const end = link.disturb(({ name }) => {
    if (name === 'claim') {
      isLost = true
      return { kind: 'applied-then-throws' }
    }
    if (name !== 'load' || !isLost) return null
    end()
    return { kind: 'throws' }
  })
}

test('a lock whose claim was never acknowledged goes to the next caller', async () => {
  const { fleet, members } = await fleetOf(2)
  const [first, second] = members
  loseClaim(first!)
  const failed = assert.rejects(
    first!.app.lock('ledger', () => 'it does not know that it has it'),
    { code: 'ECONNRESET' },
  )
  await fleet.advance('1s')
  await failed
  const got = second!.app.lock('ledger', { wait: '2m' }, (lock) => lock.token)
  await fleet.advance('2m')
  assert.ok((await got) > 0n)
  const again = first!.app.tryLock('ledger', () => 'mine')
  await fleet.advance('1s')
  assert.deepEqual(await again, { acquired: true, value: 'mine' })
  fleet.end()
})

test('a key whose claim was never acknowledged is done by the next caller, and is not another key', async () => {
  const { fleet, members } = await fleetOf(2)
  const [first, second] = members
  const [key, neighbour] = twoOfOneBucket()
  loseClaim(first!)
  const failed = assert.rejects(
    first!.app.once(key, () => 'it does not know that it has it'),
    { code: 'ECONNRESET' },
  )
  await fleet.advance('1m')
  await failed
  const other = second!.app.once(neighbour, () => 'neighbour')
  await fleet.advance('10s')
  assert.equal(await other, 'neighbour')
  const done = second!.app.once(key, () => 'key')
  await fleet.advance('10s')
  assert.equal(await done, 'key')
  for (const [one, value] of [
    [key, 'key'],
    [neighbour, 'neighbour'],
  ] as const) {
    const known = first!.app.once(one, () => assert.fail('it is done'))
    await fleet.advance('10s')
    assert.equal(await known, value)
  }
  fleet.end()
})

test('a waiting caller gets an error at once when the app stops; a section that has started may end', async () => {
  const { fleet, members } = await fleetOf(2)
  const [holder, other] = members
  const section = holder!.app.lock('ledger', () => holder!.clock.sleep(5_000).then(() => 'ended'))
  await fleet.advance('1s')
  const before = calls(other!)
  const behind = [1, 2, 3].map(() =>
    assert.rejects(
      other!.app.lock('ledger', { wait: '1h' }, () => 'never'),
      { code: 'NOT_STARTED' },
    ),
  )
  const key = other!.app.once('k', () => other!.clock.sleep(60_000))
  const keyed = assert.rejects(
    holder!.app.once('k', () => 'never'),
    { code: 'NOT_STARTED' },
  )
  await fleet.advance('1s')
  const stopped = [holder!.app.stop(), other!.app.stop()]
  await fleet.advance('1s')
  await Promise.all(behind)
  await keyed
  assert.ok(calls(other!) - before < 40, `it asked ${calls(other!) - before} times`)
  await fleet.advance('2m')
  assert.equal(await section, 'ended')
  await Promise.allSettled([...stopped, key])
  fleet.end()
})

test('a section that was overtaken gets an error, even if it ended well', async () => {
  const { fleet, members } = await fleetOf(2)
  const [sleeper, successor] = members
  // It returns before it learns of anything: only the store knows that it was too late.
  sleeper!.at('settle:sent', () => sleeper!.pause())
  const lost = assert.rejects(
    sleeper!.app.lock('ledger', () => 'well'),
    { code: 'LOCK_LOST' },
  )
  await fleet.advance('1s')
  const got = successor!.app.lock('ledger', { wait: '10m' }, () => 'mine')
  await fleet.advance('1m')
  assert.equal(await got, 'mine')
  sleeper!.resume()
  await fleet.advance('1m')
  await lost
  fleet.end()
})

test('callers of one process ask the store as often as one would, and get the lock in order', async () => {
  const { fleet, members } = await fleetOf(2)
  const [holder, crowd] = members
  void holder!.app.lock('ledger', () => holder!.clock.sleep(20_000))
  await fleet.advance('1s')
  const before = crowd!.link.calls.get('load') ?? 0
  const order: number[] = []
  const all = Array.from({ length: 50 }, (_, number) =>
    crowd!.app.lock('ledger', { wait: '1h' }, () => void order.push(number)),
  )
  await fleet.advance('10s')
  const asked = (crowd!.link.calls.get('load') ?? 0) - before
  assert.ok(asked < 60, `it asked ${asked} times in 10 s`)
  await fleet.advance('1m')
  await Promise.all(all)
  assert.deepEqual(order, [...order.keys()])
  fleet.end()
})

test('a caller whose wait ends or is aborted leaves the line, and those behind it move up', async () => {
  const { fleet, members } = await fleetOf(2)
  const [holder, crowd] = members
  void holder!.app.lock('ledger', () => holder!.clock.sleep(10_000))
  await fleet.advance('1s')
  const called = new AbortController()
  const refused = [
    assert.rejects(
      crowd!.app.lock('ledger', { wait: '2s' }, () => 1),
      { code: 'LOCK_BUSY' },
    ),
    assert.rejects(
      crowd!.app.lock('ledger', { wait: '2s' }, () => 2),
      { code: 'LOCK_BUSY' },
    ),
    assert.rejects(
      crowd!.app.lock('ledger', { wait: '1h', signal: called.signal }, () => 3),
      { name: 'AbortError' },
    ),
  ]
  const last = crowd!.app.lock('ledger', { wait: '1h' }, () => 4)
  await fleet.advance('1s')
  called.abort()
  await fleet.advance('3s')
  await Promise.all(refused)
  await fleet.advance('30s')
  assert.equal(await last, 4)
  fleet.end()
})

test('a lock costs three calls of the store, and an unchallenged leader only its heartbeats', async () => {
  const { fleet, members } = await fleetOf(3)
  const [one, leader, follower] = members
  const warm = one!.app.lock('ledger', nothing)
  // Until it knows the store's clock well enough not to ask for it.
  await fleet.advance('30s')
  await warm
  const before = new Map(one!.link.calls)
  const taken = Array.from({ length: 10 }, () => one!.app.lock('ledger', nothing))
  await fleet.advance('1s')
  await Promise.all(taken)
  const cost = (name: 'load' | 'claim' | 'apply'): number => (one!.link.calls.get(name) ?? 0) - (before.get(name) ?? 0)
  assert.deepEqual([cost('load'), cost('claim'), cost('apply')], [10, 10, 10])

  leader!.app.elect('cache')
  await fleet.advance('5s')
  follower!.app.elect('cache')
  await fleet.advance('30s')
  const [loads, claims] = [leader!.link.calls.get('load'), leader!.link.calls.get('claim')]
  const asked = follower!.link.calls.get('load') ?? 0
  await fleet.advance('10m')
  assert.deepEqual([leader!.link.calls.get('load'), leader!.link.calls.get('claim')], [loads, claims])
  const perMinute = ((follower!.link.calls.get('load') ?? 0) - asked) / 10
  assert.ok(perMinute < 25, `a follower looked ${perMinute} times a minute`)
  fleet.end()
})

for (const how of ['resigns', 'stops', 'steps down because onElected threw'] as const) {
  test(`when a leader ${how}, the next one is elected at once, not after a lease, nor after a while`, async () => {
    const { fleet, members } = await fleetOf(2)
    const [leader, next] = members
    let fail: (error: Error) => void = nothing
    let isFirst = true
    const election = leader!.app.elect('cache', {
      onElected: () => {
        if (!isFirst) return
        isFirst = false
        return new Promise((_, reject) => {
          fail = reject
        })
      },
    })
    await fleet.advance('5s')
    next!.app.elect('cache')
    // Long enough that it has given up to look often.
    await fleet.advance('2m')
    assert.deepEqual([leader!.app.isLeader('cache'), next!.app.isLeader('cache')], [true, false])
    if (how === 'resigns') void election.resign()
    else if (how === 'stops') void leader!.app.stop()
    else fail(new Error('oops'))
    await fleet.advance('200ms')
    const leads = [leader!.app.isLeader('cache'), next!.app.isLeader('cache')]
    assert.deepEqual(leads, [false, true])
    fleet.end()
  })
}

test('a candidate that cannot lead is elected less and less often, and does not keep the fleet busy', async () => {
  const { fleet, members } = await fleetOf(1)
  let elected = 0
  members[0]!.app.elect('cache', {
    onElected: () => {
      elected++
      throw new Error('it can not')
    },
  })
  await fleet.advance('10m')
  assert.ok(elected > 5 && elected < 25, `it was elected ${elected} times`)
  fleet.end()
})

test('a leader that peers may have declared dead does not report that it leads, until the store has confirmed its lease', async () => {
  const { fleet, members } = await fleetOf(1)
  const [leader] = members
  let lost = 0
  leader!.app.elect('cache', { onLost: () => void lost++ })
  await fleet.advance('5s')
  assert.equal(leader!.app.isLeader('cache'), true)
  leader!.link.doubt()
  assert.equal(leader!.app.isLeader('cache'), false)
  await fleet.advance('100ms')
  assert.equal(leader!.app.isLeader('cache'), true)
  assert.equal(lost, 0, 'it was the leader all the time')
  fleet.end()
})

test('after its event loop was blocked for longer than the grace, a leader does not claim to lead before it has caught up', async () => {
  const { fleet, members } = await fleetOf(1)
  const [leader] = members
  const election = leader!.app.elect('cache')
  await fleet.advance('5s')
  const term = election.term!
  leader!.pause()
  // The connection is lost meanwhile, which it will learn when it continues.
  leader!.link.doubt()
  await fleet.advance('1s')
  leader!.resume()
  assert.equal(leader!.app.isLeader('cache'), false, 'at the very call')
  await fleet.advance('200ms')
  assert.equal(election.term, term, 'the store says that it lives')
  fleet.end()
})

test('a leader that is cut off from the store stops leading before another one is elected', async () => {
  const { fleet, members } = await fleetOf(3)
  const order: string[] = []
  for (const { app, name } of members) {
    app.elect('cache', {
      onElected: () => void order.push(`${name} elected`),
      onLost: () => void order.push(`${name} lost`),
    })
  }
  await fleet.advance('5s')
  const leader = members.find(({ app }) => app.isLeader('cache'))!
  leader.link.disturb(() => ({ kind: 'throws' }))
  for (let second = 0; second < 60; second++) {
    await fleet.advance('1s')
    assert.ok(members.filter(({ app }) => app.isLeader('cache')).length <= 1)
  }
  assert.deepEqual(order.slice(0, 2), [`${leader.name} elected`, `${leader.name} lost`])
  assert.equal(order.length, 3)
  fleet.end()
})

test('after a store went back in time, a lock has the holder that it had, and there are not two leaders', async () => {
  const fleet = await createFleet({ losesWrites: true })
  const members = await fleet.addMany(3, nothing)
  await fleet.advance('1s')
  const warm = members[0]!.app.lock('ledger', nothing)
  await fleet.advance('1s')
  await warm
  const forget = fleet.keep()
  const terms: bigint[] = []
  for (const { app } of members) app.elect('cache', { onElected: ({ term }) => void terms.push(term) })
  const order: string[] = []
  const held = members[0]!.app.lock('ledger', async (lock) => {
    await members[0]!.clock.sleep(30_000)
    order.push('first')
    return lock.token
  })
  await fleet.advance('5s')
  forget()
  const next = members[1]!.app.lock('ledger', { wait: '5m' }, (lock) => {
    order.push('second')
    return lock.token
  })
  for (let second = 0; second < 60; second++) {
    await fleet.advance('1s')
    assert.ok(members.filter(({ app }) => app.isLeader('cache')).length <= 1)
  }
  await fleet.advance('2m')
  assert.ok((await next) > (await held))
  assert.deepEqual(order, ['first', 'second'])
  assert.deepEqual(
    terms,
    terms.toSorted((a, b) => (a < b ? -1 : 1)),
  )
  assert.equal(new Set(terms).size, terms.length)
  fleet.end()
})

test('an error of a section is thrown to its caller and not logged; a leader is not stuck', async () => {
  const fleet = await createFleet()
  const logged: string[] = []
  const log = (message: string): void => void logged.push(message)
  const options = { logger: { error: log, warn: log }, settings: { stuckMs: 60_000 } }
  const member = await fleet.add(nothing, options)
  member.app.elect('cache')
  const thrown = [
    assert.rejects(
      member.app.lock('ledger', () => Promise.reject(new Error('oops'))),
      /oops/,
    ),
    assert.rejects(
      member.app.once('key', () => Promise.reject(new Error('oops'))),
      /oops/,
    ),
  ]
  await fleet.advance('5m')
  await Promise.all(thrown)
  assert.deepEqual(logged, [])
  assert.deepEqual(fleet.events('run.stuck'), [])
  assert.equal(member.app.isLeader('cache'), true)
  fleet.end()
})

/** Of the schedules that keys share. */
function twoOfOneBucket(): [string, string] {
  const seen = new Map<number, string>()
  for (let number = 0; ; number++) {
    const key = `order:${number}`
    const known = seen.get(bucketOf(key))
    if (known !== undefined) return [known, key]
    seen.set(bucketOf(key), key)
  }
}
