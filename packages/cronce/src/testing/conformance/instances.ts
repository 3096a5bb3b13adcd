import assert from 'node:assert/strict'
import type { InstanceRecord } from '../../model/instance.ts'
import { NOBODY } from '../../model/schedule.ts'
import type { Store } from '../../store/store.ts'
import { applyAll, type Bench, bury, create, join, type Rule, renewalsOf, running, runsOf } from './bench.ts'
import {
  after,
  app,
  beat,
  cancellation,
  cancelOf,
  change,
  claim,
  HOUR_MS,
  NOON,
  parking,
  removal,
  schedule,
  settlement,
} from './samples.ts'

async function instanceOf(store: Store, id: string): Promise<InstanceRecord | undefined> {
  return (await store.listInstances()).instances.find((instance) => instance.id === id)
}

/** What a beat of an instance that is not there is answered. */
async function goneNumber(store: Store, id: string): Promise<readonly [boolean, number | null]> {
  const { alive, number } = await store.beat(beat(id, { sequence: { number: 99, after: 0 } }))
  return [alive, number]
}

/** Joins with a lease that is over at once. */
async function joinAndExpire({ store, pass, eventually }: Bench, id: string): Promise<void> {
  await store.beat(beat(id, { join: true, leaseMs: 20 }))
  await pass(21)
  await eventually('the lease has run out', async () => (await instanceOf(store, id))?.expired === true)
}

export function instanceRules(rule: Rule): void {
  rule('an instance joins as it describes itself', async ({ store, now }) => {
    const at = await now()
    const sent = beat('i', { join: true, jobs: ['a', 'b'], host: 'h', pid: 7, clockOffsetMs: -12, running: 3 })
    const { alive, instances, held } = await store.beat(sent)
    assert.deepEqual([alive, held], [true, []])
    const [record, ...others] = instances
    assert.ok(record !== undefined && record.startedAt >= at && record.renewedAt >= at && record.renewals >= 0)
    const { renewals, renewedAt, startedAt } = record
    const expected = { ...sent.instance, renewals, renewedAt, startedAt, endedAt: null, expired: false, drain: false }
    assert.deepEqual(record, expected)
    assert.deepEqual(others, [])
    assert.deepEqual((await store.listInstances()).instances, [expected])
  })

  rule('every heartbeat renews, and returns what has changed since', async ({ store, now, pass, eventually }) => {
    await join(store, 'i')
    const first = await instanceOf(store, 'i')
    await pass(2)
    await eventually('time has passed', async () => (await now()) > first!.renewedAt)
    await store.beat(beat('i', { running: 9, clockOffsetMs: 50, state: 'draining' }))
    const second = await instanceOf(store, 'i')
    assert.ok(first !== undefined && second !== undefined)
    assert.ok(second.renewals > first.renewals && second.renewedAt > first.renewedAt)
    assert.equal(second.startedAt, first.startedAt)
    assert.deepEqual([second.running, second.clockOffsetMs, second.state], [9, 50, 'draining'])
  })

  rule('a heartbeat of an id that never joined is refused, and leaves no trace', async ({ store }) => {
    assert.equal((await store.beat(beat('stranger'))).alive, false)
    assert.deepEqual((await store.listInstances()).instances, [])
  })

  rule(
    'a heartbeat is refused, and changes nothing, unless its number follows the last one on record',
    async ({ store }) => {
      const joined = await store.beat(beat('i', { join: true, sequence: { number: 1, after: 0 } }))
      const next = await store.beat(beat('i', { running: 2, sequence: { number: 2, after: 1 } }))
      // The answer to number 3 was lost, and so was its request.
      const skipping = await store.beat(beat('i', { running: 4, sequence: { number: 4, after: 2 } }))
      assert.deepEqual(
        [joined, next, skipping].map(({ alive, number }) => [alive, number]),
        [
          [true, 1],
          [true, 2],
          [true, 4],
        ],
      )
      const before = await instanceOf(store, 'i')
      const refused = [
        // Of a clone, which goes on where the snapshot was made; and one that a later one has overtaken.
        { number: 2, after: 1 },
        { number: 4, after: 2 },
        { number: 3, after: 2 },
        // Acknowledged, and not on record.
        { number: 7, after: 6 },
      ]
      for (const sequence of refused) {
        const answer = await store.beat(beat('i', { running: 9, state: 'left', sequence }))
        assert.deepEqual([answer.alive, answer.number, answer.held], [false, 4, []], JSON.stringify(sequence))
      }
      assert.deepEqual(await instanceOf(store, 'i'), { ...before, expired: false })
      assert.equal((await store.beat(beat('i', { sequence: { number: 9, after: 4 } }))).alive, true)
      assert.equal((await store.beat(beat('i', { state: 'left', sequence: { number: 10, after: 9 } }))).alive, true)
      assert.deepEqual(await goneNumber(store, 'i'), [false, null])
      assert.deepEqual(await goneNumber(store, 'stranger'), [false, null])
    },
  )

  rule(
    'a claim does not count as a heartbeat; a join with any number is accepted, and never lowers the count',
    async (bench) => {
      const { store } = bench
      await store.beat(beat('i', { join: true, sequence: { number: 1, after: 0 } }))
      await store.apply([], { claimant: { instance: 'i', leaseMs: 10_000 } })
      assert.equal((await store.beat(beat('i', { sequence: { number: 2, after: 1 } }))).alive, true)
      const again = await store.beat(beat('i', { join: true, sequence: { number: 5, after: 4 } }))
      assert.deepEqual([again.alive, again.number], [true, 5])
      // An earlier one that a later one has overtaken.
      const late = await store.beat(beat('i', { join: true, sequence: { number: 4, after: 2 } }))
      assert.deepEqual([late.alive, late.number], [true, 5])
    },
  )

  rule('a join that is sent twice is one instance', async ({ store }) => {
    await join(store, 'i', 'i')
    assert.equal((await store.listInstances()).instances.length, 1)
  })

  rule('a heartbeat returns all live and draining instances, also those whose lease has expired', async (bench) => {
    const { store } = bench
    await join(store, 'live', 'draining', 'left', 'dead')
    await joinAndExpire(bench, 'expired')
    await store.beat(beat('draining', { state: 'draining' }))
    await store.beat(beat('left', { state: 'left' }))
    await bury(store, 'dead')
    const { instances } = await store.beat(beat('live'))
    const seen = instances.map(({ id, expired }) => `${id}${expired ? ' (expired)' : ''}`)
    assert.deepEqual(seen.sort(), ['draining', 'expired (expired)', 'live'])
  })

  rule('an instance that left or was declared dead never comes back under its id', async ({ store }) => {
    await join(store, 'left', 'dead')
    await store.beat(beat('left', { state: 'left' }))
    await bury(store, 'dead')
    for (const [id, state] of [
      ['left', 'left'],
      ['dead', 'dead'],
    ] as const) {
      assert.equal((await store.beat(beat(id))).alive, false, `${id} beats`)
      assert.equal((await store.beat(beat(id, { join: true }))).alive, false, `${id} joins`)
      assert.equal((await instanceOf(store, id))?.state, state)
    }
  })

  rule(
    'an instance has an end once it left or was declared dead: after its last claim, and one only',
    async (bench) => {
      const { store, now, pass, eventually } = bench
      await join(store, 'left', 'dead')
      const later = async (): Promise<void> => {
        const at = await now()
        await pass(2)
        await eventually('time has passed', async () => (await now()) > at)
      }
      const endsOf = async (): Promise<(number | null)[]> => {
        const { instances } = await store.listInstances({ ids: ['left', 'dead'] })
        return instances.map(({ endedAt }) => endedAt)
      }
      const { instances: peers } = await store.beat(beat('left', { state: 'draining' }))
      assert.deepEqual(
        [peers.map(({ endedAt }) => endedAt), await endsOf()],
        [
          [null, null],
          [null, null],
        ],
      )
      await later()
      const claimedAt = await Promise.all(
        ['left', 'dead'].map(async (instance) => {
          const change = claim(await create(store, schedule(instance)), { instance })
          return (await store.apply([change], { claimant: { instance, leaseMs: HOUR_MS } })).now
        }),
      )
      await store.beat(beat('left', { state: 'left' }))
      await bury(store, 'dead')
      const ends = await endsOf()
      const at = await now()
      for (const end of ends) assert.ok(end !== null && end >= Math.max(...claimedAt) && end <= at, `${end} of ${at}`)
      assert.deepEqual(
        (await store.listInstances({ ended: 9 })).instances.map(({ endedAt }) => endedAt),
        ends,
      )
      await later()
      await bury(store, 'dead')
      for (const id of ['left', 'dead']) assert.equal((await store.beat(beat(id, { state: 'left' }))).alive, false)
      assert.deepEqual(await endsOf(), ends)
    },
  )

  rule('an expired lease is renewed by a heartbeat, unless a peer was faster', async (bench) => {
    const { store } = bench
    await joinAndExpire(bench, 'i')
    assert.equal((await store.beat(beat('i'))).alive, true)
    assert.equal((await instanceOf(store, 'i'))?.expired, false)
  })

  rule(
    "a lease ends by the store's clock, to the millisecond, counted from the last heartbeat",
    async ({ store, pass }) => {
      const expired = async () => (await instanceOf(store, 'i'))?.expired
      await store.beat(beat('i', { join: true, leaseMs: 1_000 }))
      await pass(100)
      await store.beat(beat('i', { leaseMs: 500 }))
      await pass(499)
      assert.equal(await expired(), false)
      await pass(1)
      assert.equal(await expired(), true)
    },
    'clock',
  )

  rule(
    "a lease that was renewed before the store's clock was set back does not outlast it",
    async ({ store, setBack, pass }) => {
      await store.beat(beat('i', { join: true, leaseMs: 20 }))
      const renewals = await renewalsOf(store, 'i')
      await setBack(HOUR_MS)
      let isDead = false
      // Each look lets a whole lease pass.
      for (let look = 0; look < 100 && !isDead; look++) {
        await pass(21)
        isDead = await store.mark({ kind: 'dead', instance: 'i', renewals, hint: false })
      }
      assert.ok(isDead)
    },
    'set-back',
  )

  rule('no instance is declared dead while its lease lasts', async ({ store }) => {
    await join(store, 'i')
    const renewals = await renewalsOf(store, 'i')
    assert.equal(await store.mark({ kind: 'dead', instance: 'i', renewals, hint: false }), false)
    assert.equal((await store.beat(beat('i'))).alive, true)
  })

  rule('an instance whose lease ran out is declared dead, once', async (bench) => {
    const { store } = bench
    await joinAndExpire(bench, 'i')
    const renewals = await renewalsOf(store, 'i')
    assert.equal(await store.mark({ kind: 'dead', instance: 'i', renewals, hint: false }), true)
    assert.equal((await instanceOf(store, 'i'))?.state, 'dead')
    assert.equal(await store.mark({ kind: 'dead', instance: 'i', renewals, hint: false }), true, 'dead already')
  })

  rule('a hint buries while the lease lasts', async ({ store }) => {
    await join(store, 'i')
    const renewals = await renewalsOf(store, 'i')
    assert.equal(await store.mark({ kind: 'dead', instance: 'i', renewals, hint: true }), true)
    assert.equal((await store.beat(beat('i'))).alive, false)
  })

  rule('an instance that has renewed since is not declared dead, neither by expiry nor by a hint', async (bench) => {
    const { store, pass, eventually } = bench
    await join(store, 'i')
    const seen = await renewalsOf(store, 'i')
    await store.beat(beat('i', { leaseMs: 20 }))
    await pass(21)
    await eventually('the lease has run out', async () => (await instanceOf(store, 'i'))?.expired === true)
    for (const hint of [true, false]) {
      assert.equal(await store.mark({ kind: 'dead', instance: 'i', renewals: seen, hint }), false)
    }
    assert.equal((await store.beat(beat('i'))).alive, true)
  })

  rule('an instance that has left, or never joined, is not declared dead', async ({ store }) => {
    await join(store, 'left')
    await store.beat(beat('left', { state: 'left', leaseMs: 1 }))
    const renewals = await renewalsOf(store, 'left')
    for (const hint of [true, false]) {
      assert.equal(await store.mark({ kind: 'dead', instance: 'left', renewals, hint }), false)
      assert.equal(await store.mark({ kind: 'dead', instance: 'stranger', renewals: 0, hint }), false)
    }
    assert.deepEqual(
      (await store.listInstances()).instances.map(({ id, state }) => [id, state]),
      [['left', 'left']],
    )
  })

  rule('declaring one instance dead leaves the others alone', async ({ store }) => {
    await join(store, 'i', 'j')
    await bury(store, 'i')
    assert.equal((await store.beat(beat('j'))).alive, true)
  })

  rule('of many declarations of death and one renewal, all agree which came first', async ({ store, open }) => {
    const other = await open()
    for (let round = 0; round < 20; round++) {
      const instance = `i${round}`
      await join(store, instance)
      const burial = { instance, renewals: await renewalsOf(store, instance), hint: true }
      const [first, { alive }, second] = await Promise.all([
        other.mark({ kind: 'dead', ...burial }),
        store.beat(beat(instance)),
        other.mark({ kind: 'dead', ...burial }),
      ])
      assert.deepEqual([first, second], [!alive, !alive])
      assert.equal((await instanceOf(store, instance))?.state, alive ? 'live' : 'dead')
      assert.equal((await store.beat(beat(instance))).alive, alive)
    }
  })

  rule('a drain is requested, seen at the next heartbeat, and undone', async ({ store }) => {
    await join(store, 'i', 'j')
    const drains = async () => {
      const { instances } = await store.beat(beat('i'))
      return Object.fromEntries(instances.map(({ id, drain }) => [id, drain]))
    }
    assert.equal(await store.mark({ kind: 'drain', instance: 'i', drain: true }), true)
    assert.deepEqual(await drains(), { i: true, j: false })
    assert.deepEqual(await drains(), { i: true, j: false }, 'a beat does not take it back')
    assert.equal(await store.mark({ kind: 'drain', instance: 'i', drain: false }), true)
    assert.deepEqual(await drains(), { i: false, j: false })
  })

  rule('an instance that is not live is not drained', async ({ store }) => {
    await join(store, 'left', 'dead')
    await store.beat(beat('left', { state: 'left' }))
    await bury(store, 'dead')
    for (const id of ['stranger', 'left', 'dead'])
      assert.equal(await store.mark({ kind: 'drain', instance: id, drain: true }), false, id)
  })

  rule('a heartbeat returns the open runs that the instance holds', async ({ store }) => {
    await join(store, 'i', 'j')
    const a = await running(store, 'a', { instance: 'i', claim: 1 })
    const b = await running(store, 'b', { instance: 'i', claim: 2 })
    await running(store, 'c', { instance: 'j' })
    const held = async (id: string) => {
      const answer = await store.beat(beat(id))
      return [...answer.held].sort((one, two) => (one.schedule < two.schedule ? -1 : 1))
    }
    const runOfA = { schedule: 'a', token: a.run.token, claim: 1, cancel: null }
    const runOfB = { schedule: 'b', token: b.run.token, claim: 2, cancel: null }
    assert.deepEqual(await held('i'), [runOfA, runOfB])
    const cancelled = cancellation(b.state, b.run)
    await applyAll(store, [settlement(a.state, a.run), cancelled])
    assert.deepEqual(await held('i'), [{ ...runOfB, cancel: cancelOf(b.run) }])
    await applyAll(store, [settlement(after(cancelled), b.run)])
    assert.deepEqual(await held('i'), [])
    assert.deepEqual(
      (await held('j')).map(({ schedule }) => schedule),
      ['c'],
    )
  })

  rule('a run that is handed to another instance is held by that one', async ({ store }) => {
    await join(store, 'i', 'j')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const open = state.open.map((fire) => ({ ...fire, run: fire.run && { ...fire.run, instance: 'j' } }))
    await applyAll(store, [change(state, { open })])
    assert.deepEqual((await store.beat(beat('i'))).held, [])
    assert.deepEqual(
      (await store.beat(beat('j'))).held.map(({ token }) => token),
      [run.token],
    )
  })

  rule('runs of a schedule that was removed are held by no instance', async ({ store }) => {
    await join(store, 'i', 'dead', 'other')
    const first = await running(store, 'a', { instance: 'i' })
    const second = await running(store, 'b', { instance: 'dead' })
    await bury(store, 'dead')
    await applyAll(store, [removal(first.state), removal(second.state)])
    assert.deepEqual((await store.beat(beat('i'))).held, [])
    assert.deepEqual((await store.beat(beat('other'))).chores.orphans, [])
    assert.deepEqual(await runsOf(store, { outcome: 'open' }), [])
  })

  rule('both runs of one schedule are held, if both are open', async ({ store }) => {
    await join(store, 'i')
    const first = await running(store, 's', { instance: 'i' })
    const second = await running(store, 's', { instance: 'i', dueAt: NOON + HOUR_MS })
    const { held } = await store.beat(beat('i'))
    assert.deepEqual(held.map(({ token }) => token).sort(), [first.run.token, second.run.token].sort())
  })

  rule("a heartbeat returns the version of its app's record", async ({ store }) => {
    const versions = async (): Promise<number[]> => {
      const answers = [await store.beat(beat('i', { app: 'shop' })), await store.beat(beat('j', { app: 'mail' }))]
      return answers.map(({ chores }) => chores.appVersion)
    }
    await store.beat(beat('i', { join: true, app: 'shop' }))
    await store.beat(beat('j', { join: true, app: 'mail' }))
    assert.deepEqual(await versions(), [0, 0])
    for (const version of [1, 2]) await store.saveApp(app('shop', { version }))
    assert.deepEqual(await versions(), [2, 0])
  })

  rule('a heartbeat lists ended instances that still hold open runs', async (bench) => {
    const { store } = bench
    const orphans = async () => [...(await store.beat(beat('i'))).chores.orphans].sort()
    await join(store, 'i', 'dead', 'left', 'idle')
    await joinAndExpire(bench, 'expired')
    const first = await running(store, 'a', { instance: 'dead' })
    const second = await running(store, 'b', { instance: 'dead' })
    const third = await running(store, 'c', { instance: 'left' })
    await running(store, 'd', { instance: 'i' })
    await running(store, 'e', { instance: 'expired' })
    assert.deepEqual(await orphans(), [])
    for (const id of ['dead', 'idle']) await bury(store, id)
    await store.beat(beat('left', { state: 'left' }))
    assert.deepEqual(await orphans(), ['dead', 'left'])
    await applyAll(store, [settlement(first.state, first.run), settlement(third.state, third.run)])
    assert.deepEqual(await orphans(), ['dead'])
    await applyAll(store, [settlement(second.state, second.run)])
    assert.deepEqual(await orphans(), [])
  })

  rule(
    'a run that is parked is held by no instance, is not an orphan when its instance dies, and is open until it ends',
    async (bench) => {
      const { store } = bench
      await join(store, 'i', 'other')
      const { state, run } = await running(store, 'a', { instance: 'i' })
      const parked = parking(state, run)
      await applyAll(store, [parked])
      assert.deepEqual((await store.beat(beat('i'))).held, [])
      await bury(store, 'i')
      assert.deepEqual((await store.beat(beat('other'))).chores.orphans, [])
      const items = await runsOf(store, { outcome: 'open' })
      assert.deepEqual(
        items.map(({ token, instance, endedAt }) => [token, instance, endedAt]),
        [[run.token, NOBODY, null]],
      )
      const loaded = (await store.load(['a'])).schedules[0]
      assert.equal(loaded?.open[0]?.run?.parkedUntil, run.startedAt + HOUR_MS)
      assert.equal((await runsOf(store, { instance: 'i' })).length, 0)
      assert.equal((await runsOf(store, { instance: NOBODY, outcome: 'open' })).length, 1)
      await applyAll(store, [settlement(after(parked), { ...run, instance: NOBODY })])
      assert.deepEqual(await runsOf(store, { outcome: 'open' }), [])
      assert.deepEqual((await store.beat(beat('other'))).chores.orphans, [])
    },
  )

  rule('a probe never names an instance whose store is open', async ({ store, open }) => {
    await join(store, 'i')
    assert.deepEqual(await (await open()).probe(['i']), [])
    assert.deepEqual(await store.probe([]), [])
  })
}
