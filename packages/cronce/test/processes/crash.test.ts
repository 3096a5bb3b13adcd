import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNewerToken } from '../../src/model/token.ts'
import { collect, type Fleet, type Member, startFleet, until } from './fleet.ts'

/** Triggered runs that hold, and which process each of them is on. */
async function hold(fleet: Fleet, names: readonly string[], overlap: 'skip' | 'queue-all' = 'skip') {
  for (const name of names) await fleet.client.schedules.create(name, { job: 'hold', overlap })
  for (const name of names) await fleet.client.schedules.trigger(name)
  return until('all of them run', () => {
    const lines = fleet.witnesses().filter(({ what, schedule }) => what === 'started' && names.includes(schedule))
    return lines.length >= names.length && lines
  })
}

async function runsOf(fleet: Fleet, schedule: string) {
  const runs = await collect(fleet.client.runs.all({ schedule }))
  return runs.sort((a, b) => a.attempt - b.attempt)
}

async function succeeded(fleet: Fleet, names: readonly string[]): Promise<void> {
  await until('all have succeeded', async () => {
    const fires = await collect(fleet.client.fires.all({ job: 'hold', outcome: 'succeeded' }))
    return names.every((name) => fires.some(({ schedule }) => schedule === name))
  })
}

test('what a killed process was running is taken over because its lock is free, long before its lease', async (context) => {
  const fleet = await startFleet(context)
  // A lease that cannot expire within this test, so no takeover is due to expiry.
  const options = { lease: '10m' } as const
  const members = ['a', 'b', 'c'].map((name) => fleet.start({ name, options, jobs: { hold: { does: 'hold' } } }))
  await Promise.all(members.map(({ started }) => started))
  const names = Array.from({ length: 9 }, (_, number) => `hold-${number}`)
  const held = await hold(fleet, names)
  const victim = busiest(members, held)
  const victimId = await victim.started
  const lost = held.filter((line) => line.process === victim.name)
  assert.ok(lost.length > 0)

  await victim.kill()

  const others = members.filter((member) => member !== victim)
  const died = await until('a survivor declares it dead', () =>
    others
      .flatMap(({ events }) => events)
      .find((event) => event.type === 'instance.died' && event.instance === victimId),
  )
  assert.deepEqual(died, { type: 'instance.died', instance: victimId, by: 'probe' })
  for (const line of lost) {
    const runs = await until('it runs again', async () => {
      const all = await runsOf(fleet, line.schedule)
      return all.length > 1 && all
    })
    const [first, second] = [runs[0]!, runs[1]!]
    assert.deepEqual([first.instance, first.state, first.reason], [victimId, 'abandoned', 'crashed'])
    assert.deepEqual([second.attempt, second.state], [2, 'running'])
    assert.notEqual(second.instance, victimId)
    assert.ok(isNewerToken(second.token, first.token))
  }
  fleet.openGate()
  await succeeded(fleet, names)
  const ended = fleet.witnesses().filter(({ what }) => what === 'ended')
  assert.deepEqual(ended.map(({ schedule }) => schedule).sort(), names, 'each came to its end once')
})

test('a process that was paused beyond its lease finds its settlement refused, and goes on under a new id', async (context) => {
  const fleet = await startFleet(context)
  const options = { lease: '1s' } as const
  const order = { options, jobs: { hold: { does: 'ignore' as const } } } as const
  const sleeper = fleet.start({ ...order, name: 'sleeper' })
  const sleeperId = await sleeper.started
  const [line] = await hold(fleet, ['held'])
  const successor = fleet.start({ ...order, name: 'successor' })
  await successor.started
  fleet.pause(sleeper)

  const died = await successor.event('instance.died', ({ instance }) => instance === sleeperId)
  assert.equal(died.by, 'lease', 'its lock is still held')
  await successor.event('run.started', ({ schedule, attempt }) => schedule === 'held' && attempt === 2)
  sleeper.signal('SIGCONT')
  const fenced = await sleeper.event('instance.fenced', ({ instance }) => instance === sleeperId)
  // The successor is still at it: there is a run that could be settled by mistake.
  fleet.openGate(sleeper)

  const refused = await sleeper.event('run.fenced')
  assert.deepEqual([refused.refused, refused.schedule, refused.token], ['settle', 'held', line!.token])
  assert.equal((await runsOf(fleet, 'held'))[1]!.state, 'running')
  fleet.openGate()
  await succeeded(fleet, ['held'])
  const [first, second] = await runsOf(fleet, 'held')
  assert.deepEqual([first!.instance, first!.state, first!.reason], [sleeperId, 'abandoned', 'crashed'])
  assert.deepEqual([second!.instance, second!.state], [await successor.started, 'succeeded'])
  assert.ok(isNewerToken(second!.token, first!.token))
  const joined = await sleeper.event('instance.joined', ({ instance }) => instance === fenced.successor)
  assert.notEqual(joined.instance, sleeperId)
  const instances = await fleet.client.instances.list()
  assert.equal(instances.find(({ id }) => id === sleeperId)!.state, 'dead')
  assert.equal(instances.find(({ id }) => id === fenced.successor)!.state, 'live')
})

/** How long before its due time a fire may be claimed. */
const CLAIM_AHEAD_MS = 400

test('when all processes were killed, their successors catch up as the policies require', async (context) => {
  const fleet = await startFleet(context)
  const graceMs = 500
  const late = (policy: 'all' | 'latest' | 'skip') => ({
    does: 'note' as const,
    every: '250ms' as const,
    overlap: 'queue-all' as const,
    misfire: { late: policy, grace: graceMs },
  })
  const jobs = { hold: { does: 'hold' as const }, all: late('all'), latest: late('latest'), skip: late('skip') }
  const before = ['a', 'b'].map((name) => fleet.start({ name, jobs }))
  await Promise.all(before.map(({ started }) => started))
  await hold(fleet, ['held'])
  await until('each has run', () => {
    const seen = new Set(fleet.witnesses().map(({ schedule }) => schedule))
    return ['all', 'latest', 'skip'].every((name) => seen.has(name))
  })
  await Promise.all(before.map((member) => member.kill()))
  const killedAt = Date.now()
  await until('they have missed a few', () => Date.now() > killedAt + 3_000)
  const restartedAt = Date.now()
  const after = ['c', 'd'].map((name) => fleet.start({ name, jobs }))
  await Promise.all(after.map(({ started }) => started))
  fleet.openGate()
  await succeeded(fleet, ['held'])
  await until('all have caught up', async () => {
    const { items } = await fleet.client.schedules.list()
    return items.every(({ nextAt, open }) => (nextAt ?? restartedAt + 1) > restartedAt && open.length === 0)
  })

  assert.deepEqual(
    (await runsOf(fleet, 'held')).map(({ state }) => state),
    ['abandoned', 'succeeded'],
  )
  const said = { all: 'completed', latest: 'superseded', skip: 'late' }
  for (const [schedule, reason] of Object.entries(said)) {
    const ends = await endsOf(fleet, schedule)
    const instants = [...ends.keys()]
    const due = Array.from({ length: instants.length }, (_, index) => instants[0]! + index * 250)
    assert.deepEqual(instants, due, `every instant of ${schedule} is on record once`)
    // Fires that no process can have seen in time; the last of them may be the latest, which stands in for the others.
    // Fires that the killed processes had claimed ahead run again.
    const claimedTo = killedAt + CLAIM_AHEAD_MS
    const gap = instants.filter((dueAt) => dueAt > claimedTo && dueAt < restartedAt - graceMs).slice(0, -1)
    assert.ok(gap.length > 3)
    assert.deepEqual(new Set(gap.map((dueAt) => ends.get(dueAt))), new Set([reason]))
  }
  const latest = await collect(fleet.client.fires.all({ schedule: 'latest', from: killedAt, outcome: 'succeeded' }))
  assert.ok(latest.length > 0, 'one stood in for the others')
})

/** How each instant ended, by `dueAt`, ranges taken apart. */
async function endsOf(fleet: Fleet, schedule: string): Promise<Map<number, string | null>> {
  const ends: [number, string | null][] = []
  for await (const { dueAt, range, reason } of fleet.client.fires.all({ schedule })) {
    for (let index = 0; index < (range?.count ?? 1); index++) ends.push([dueAt + index * 250, reason])
  }
  const sorted = ends.sort(([a], [b]) => a - b)
  assert.equal(new Set(sorted.map(([dueAt]) => dueAt)).size, sorted.length)
  return new Map(sorted)
}

function busiest(members: readonly Member[], held: readonly { readonly process: string }[]): Member {
  const runs = (member: Member): number => held.filter(({ process }) => process === member.name).length
  return members.reduce((most, member) => (runs(member) > runs(most) ? member : most))
}
