import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lease } from '../../src/engine/fleet/lease.ts'
import type { SyncPoint } from '../../src/engine/parts.ts'
import { createFleet, type Declare, type Fleet, type Member } from './fleet.ts'

const billing: Declare = (app, { clock }) => app.job('bill', '* * * * *', () => clock.sleep(50))

/** How many heartbeats this member has sent. */
const beats = ({ link }: Member): number => link.calls.get('beat') ?? 0

/** The process is paused for this long. Its peers take it for dead, and it does not learn of it. */
async function stallUnseen(fleet: Fleet, member: Member, ms: number): Promise<void> {
  member.isSessionLost = true
  member.link.deaf = true
  member.pause()
  await fleet.world.after(ms)
  member.isSessionLost = false
  member.link.deaf = false
  member.resume()
}

/** Handlers that were called after the instance of their run had been declared dead. */
function startsOfTheDead(fleet: Fleet): string[] {
  const died = new Map(
    fleet.told.flatMap(({ at, event }) => (event.type === 'instance.died' ? [[event.instance, at] as const] : [])),
  )
  return fleet.handled
    .filter(({ instance, startedAt }) => startedAt > (died.get(instance) ?? Number.POSITIVE_INFINITY))
    .map(({ instance, startedAt }) => `${instance} at ${startedAt}, dead since ${died.get(instance)}`)
}

/** The first member that gets to this point of its first run stalls there. */
async function fleetThatStalls(point: SyncPoint, stallMs: number, claimAhead: number): Promise<Fleet> {
  const fleet = await createFleet({ probes: true, latency: () => ({ requestMs: 5, answerMs: 5 }) })
  let hasStalled = false
  for (const member of await fleet.addMany(2, billing, { claimAhead })) {
    member.at(point, () => {
      if (hasStalled) return
      hasStalled = true
      return stallUnseen(fleet, member, stallMs)
    })
  }
  await fleet.advance('90s')
  assert.ok(hasStalled)
  return fleet
}

test('an instance that peers have declared dead since its claim starts nothing', async () => {
  const cases: [number, SyncPoint[]][] = [
    [0, ['claim:answered', 'run:starting']],
    [300, ['claim:answered', 'run:starting', 'run:due']],
  ]
  for (const [claimAhead, points] of cases) {
    const stalls = points.flatMap((point) => [100, 400, 600, 700, 5_000].map((ms) => [point, ms] as const))
    for (const [point, stallMs] of stalls) {
      const fleet = await fleetThatStalls(point, stallMs, claimAhead)
      const what = `claimed ${claimAhead} ms ahead, stalled at ${point} for ${stallMs} ms`
      assert.deepEqual(startsOfTheDead(fleet), [], what)
      assert.equal(fleet.handled.at(-1)!.how, 'returned', what)
      if (stallMs >= 700) assert.equal(fleet.events('instance.died').length, 1, what)
      fleet.end()
    }
  }
})

test('a lock whose holder was declared dead between the claim and the start does not run its work', async () => {
  const fleet = await createFleet({ probes: true })
  const [holder, peer] = (await fleet.addMany(2, billing)) as [Member, Member]
  await fleet.advance('5s')
  const work: { readonly of: Member; readonly token: bigint }[] = []
  const guard = (of: Member): Promise<unknown> =>
    of.app.lock('ledger', { wait: '10s' }, async ({ token }) => void work.push({ of, token }))
  holder.at('run:starting', () => stallUnseen(fleet, holder, 3_500))
  const first = guard(holder)
  await fleet.advance('1s')
  await fleet.world.until(Promise.all([first, guard(peer)]))
  assert.deepEqual(
    work.map(({ of }) => of.name),
    ['m2', 'm1'],
    'the peer gets it when the holder is dead, and the holder claims it again',
  )
  assert.ok(work[0]!.token < work[1]!.token)
  fleet.end()
})

test('a fire that starts right after its claim costs no heartbeat', async () => {
  const fleet = await createFleet({ latency: () => ({ requestMs: 5, answerMs: 5 }) })
  const member = await fleet.add((app) => app.job('often', { every: '1s' }, () => {}))
  await fleet.advance('1m')
  const before = beats(member)
  await fleet.advance('1m')
  // One each 10 s, as of an idle instance.
  assert.equal(beats(member) - before, 6)
  assert.equal(fleet.handled.length, 120)
  fleet.end()
})

test('on a store that is slower than the grace, fires start without more heartbeats', async () => {
  const fleet = await createFleet({ probes: true, latency: () => ({ requestMs: 200, answerMs: 200 }) })
  const member = await fleet.add((app) => app.job('often', { every: '2s' }, () => {}), { claimAhead: 0 })
  await fleet.advance('1m')
  const before = { beats: beats(member), handled: fleet.handled.length }
  await fleet.advance('1m')
  assert.equal(fleet.handled.length - before.handled, 30)
  assert.ok(beats(member) - before.beats <= 12)
  fleet.end()
})

test('one long answer is a stall of the process, three alike are a slow store', () => {
  let time = 0
  const now = (): number => time
  const own = lease({ mono: now, boot: now, wall: now, sleep: async () => {}, pause: async () => {} }, 'mono')
  const answerAfter = (ms: number): boolean => {
    const sent = own.times()
    time += ms
    own.answered(sent)
    return own.isFresh()
  }
  assert.deepEqual([10, 400, 700, 500, 400].map(answerAfter), [true, false, false, true, true])
  time += 300
  assert.equal(own.isFresh(), false, 'nothing has arrived since')
  // Far longer than before: it counts as the first one of a store that has become slower.
  assert.deepEqual([5_000, 400, 400].map(answerAfter), [false, false, true])
  assert.deepEqual([10, 400].map(answerAfter), [true, false])
})

test('on a slow store, a long answer is a stall of the process, also if its request left before the last slow answer arrived', () => {
  let time = 0
  const now = (): number => time
  const own = lease({ mono: now, boot: now, wall: now, sleep: async () => {}, pause: async () => {} }, 'mono')
  const isFreshAfter = (ms: number, sent = own.times()): boolean => {
    time += ms
    own.answered(sent)
    return own.isFresh()
  }
  assert.deepEqual([isFreshAfter(400), isFreshAfter(400)], [false, false])
  const third = own.times()
  time += 200
  const overlapping = own.times()
  assert.equal(isFreshAfter(200, third), true)
  assert.equal(isFreshAfter(5_000, overlapping), false)
  assert.deepEqual([isFreshAfter(400), isFreshAfter(400)], [false, true])
})

test('slow answers to requests that were sent together count once', () => {
  let time = 0
  const now = (): number => time
  const own = lease({ mono: now, boot: now, wall: now, sleep: async () => {}, pause: async () => {} }, 'mono')
  const sent = own.times()
  time += 400
  for (let answers = 0; answers < 5; answers++) own.answered(sent)
  assert.equal(own.isFresh(), false)
})
