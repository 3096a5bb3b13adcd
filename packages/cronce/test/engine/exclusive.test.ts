import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Term } from '../../src/app/elect.ts'
import { createFleet, type Fleet, type Member } from './fleet.ts'

const nothing = (): void => {}

async function fleetOf(count: number): Promise<{ readonly fleet: Fleet; readonly members: Member[] }> {
  const fleet = await createFleet()
  const members = await fleet.addMany(count, nothing)
  await fleet.advance('1s')
  return { fleet, members }
}

test('one caller at a time has a lock, in the order of the tokens', async () => {
  const { fleet, members } = await fleetOf(3)
  const entered: { readonly token: bigint; readonly at: number; left: number }[] = []
  const done = members.flatMap(({ app, clock }) =>
    Array.from({ length: 5 }, () =>
      app.lock('ledger', { wait: '10m' }, async (lock) => {
        const visit = { token: lock.token, at: fleet.now(), left: Number.POSITIVE_INFINITY }
        entered.push(visit)
        await clock.sleep(100)
        visit.left = fleet.now()
        return lock.token
      }),
    ),
  )
  await fleet.advance('2m')
  const tokens = await Promise.all(done)
  assert.equal(new Set(tokens).size, 15)
  for (const [index, visit] of entered.entries()) {
    const before = entered[index - 1]
    if (before !== undefined) assert.ok(before.left <= visit.at && before.token < visit.token, `visit ${index}`)
  }
  fleet.end()
})

test('the next caller gets a lock whose holder crashed, with a higher token', async () => {
  const { fleet, members } = await fleetOf(2)
  const [first, second] = members
  let held = 0n
  void first!.app.lock('ledger', async (lock) => {
    held = lock.token
    await first!.clock.sleep(3_600_000)
  })
  await fleet.advance('1s')
  first!.crash()
  const got = second!.app.lock('ledger', { wait: '5m' }, (lock) => lock.token)
  await fleet.advance('1m')
  assert.ok((await got) > held && held > 0n)
  fleet.end()
})

test('a paused holder that wakes up after it was replaced gets LOCK_LOST', async () => {
  const { fleet, members } = await fleetOf(2)
  const [sleeper, successor] = members
  let signal: AbortSignal | undefined
  const lost = sleeper!.app.lock('ledger', async (lock) => {
    signal = lock.signal
    await sleeper!.clock.sleep(120_000)
  })
  const rejected = assert.rejects(lost, { code: 'LOCK_LOST' })
  await fleet.advance('1s')
  sleeper!.pause()
  const got = successor!.app.lock('ledger', { wait: '10m' }, (lock) => lock.token)
  await fleet.advance('1m')
  await got
  sleeper!.resume()
  await fleet.advance('5m')
  await rejected
  assert.equal(signal?.aborted, true)
  fleet.end()
})

test('a caller that does not wait long enough learns which instance has the lock; an error of a section is thrown', async () => {
  const { fleet, members } = await fleetOf(2)
  const [holder, other] = members
  void holder!.app.lock('ledger', () => holder!.clock.sleep(60_000))
  await fleet.advance('1s')
  const busy = assert.rejects(other!.app.lock('ledger', { wait: '5s' }, nothing), {
    code: 'LOCK_BUSY',
    message: new RegExp(holder!.app.instance!),
  })
  const tried = other!.app.tryLock('ledger', () => 'mine')
  await fleet.advance('10s')
  await busy
  assert.deepEqual((await tried).acquired, false)
  await fleet.advance('2m')
  const thrown = assert.rejects(
    other!.app.lock('ledger', () => Promise.reject(new TypeError('oops'))),
    TypeError,
  )
  await fleet.advance('5s')
  await thrown
  const free = holder!.app.tryLock('ledger', () => 'mine')
  await fleet.advance('5s')
  assert.deepEqual(await free, { acquired: true, value: 'mine' })
  fleet.end()
})

test('there is one leader at a time; when it crashes, stops or resigns, another follows with a higher term', async () => {
  const { fleet, members } = await fleetOf(3)
  const terms: { readonly term: bigint; readonly member: Member; readonly from: number; until: number | null }[] = []
  for (const member of members) {
    member.app.elect('cache', {
      onElected: ({ term }: Term) => terms.push({ term, member, from: fleet.now(), until: null }),
      onLost: ({ term }: Term) => {
        const mine = terms.find((one) => one.term === term)
        if (mine !== undefined) mine.until = fleet.now()
      },
    })
  }
  await fleet.advance('10s')
  assert.equal(terms.length, 1)
  assert.deepEqual(
    members.map(({ app }) => app.isLeader('cache')),
    members.map((member) => member === terms[0]!.member),
  )
  const stoppedAt = fleet.now()
  void terms[0]!.member.app.stop()
  await fleet.advance('5s')
  assert.equal(terms.length, 2)
  assert.ok(terms[1]!.from - stoppedAt < 5_000, 'at once, not after a lease')
  terms[1]!.member.crash()
  await fleet.advance('1m')
  assert.equal(terms.length, 3)
  assert.ok(terms[0]!.term < terms[1]!.term && terms[1]!.term < terms[2]!.term)
  assert.equal(terms[2]!.member.app.isLeader('cache'), true)
  fleet.end()
})

test('a paused leader does not think that it leads when it wakes up', async () => {
  const { fleet, members } = await fleetOf(2)
  const order: string[] = []
  for (const member of members) {
    member.app.elect('cache', {
      onElected: () => order.push(`${member.name} elected`),
      onLost: () => order.push(`${member.name} lost`),
    })
  }
  await fleet.advance('10s')
  const leader = members.find(({ app }) => app.isLeader('cache'))!
  const other = members.find((member) => member !== leader)!
  leader.pause()
  await fleet.advance('1m')
  assert.equal(other.app.isLeader('cache'), true)
  leader.resume()
  assert.equal(leader.app.isLeader('cache'), false, 'at the very call')
  await fleet.advance('1m')
  assert.deepEqual(order, [`${leader.name} elected`, `${other.name} elected`, `${leader.name} lost`])
  fleet.end()
})

test('the first caller of a key does the work, all others get its result', async () => {
  const { fleet, members } = await fleetOf(3)
  let done = 0
  const all = members.flatMap(({ app, clock }) =>
    Array.from({ length: 4 }, () =>
      app.once('order:42:email', async () => {
        await clock.sleep(1_000)
        return { sent: ++done }
      }),
    ),
  )
  await fleet.advance('1m')
  assert.deepEqual(new Set((await Promise.all(all)).map(({ sent }) => sent)), new Set([1]))
  assert.equal(done, 1)
  const later = members[0]!.app.once('order:42:email', () => ({ sent: 99 }))
  await fleet.advance('10s')
  assert.deepEqual(await later, { sent: 1 })
  fleet.end()
})

test('failed work is repeated by the next caller; work with an unknown outcome is not, unless rerun allows it', async () => {
  const { fleet, members } = await fleetOf(2)
  const [first, second] = members
  const failed = assert.rejects(
    first!.app.once('k', () => Promise.reject(new Error('no'))),
    /no/,
  )
  await fleet.advance('10s')
  await failed
  const done = second!.app.once('k', () => 'yes')
  await fleet.advance('10s')
  assert.equal(await done, 'yes')

  void first!.app.once('crashing', () => first!.clock.sleep(60_000))
  await fleet.advance('1s')
  first!.crash()
  await fleet.advance('1m')
  const unknown = assert.rejects(
    second!.app.once('crashing', () => 'again'),
    { code: 'STEP_UNKNOWN' },
  )
  await fleet.advance('10s')
  await unknown
  const again = second!.app.once('crashing', { rerun: true }, () => 'again')
  await fleet.advance('10s')
  assert.equal(await again, 'again')
  fleet.end()
})
