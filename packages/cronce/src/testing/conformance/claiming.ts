import assert from 'node:assert/strict'
import type { Change } from '../../model/change.ts'
import { ending } from '../../model/outcome.ts'
import type { OpenFire, ScheduleState } from '../../model/schedule.ts'
import type { ChangeResult, Store } from '../../store/store.ts'
import {
  applyAll,
  applyOne,
  bury,
  create,
  firesOf,
  join,
  loadOne,
  type Rule,
  renewalsOf,
  running,
  runsOf,
} from './bench.ts'
import {
  after,
  beat,
  cancellation,
  change,
  claim,
  claimAgain,
  creation,
  HOUR_MS,
  JOB,
  LEASE_MS,
  NOON,
  parking,
  removal,
  runOf,
  schedule,
  settlement,
} from './samples.ts'

function claimant(instance: string): { claimant: { instance: string; leaseMs: number } } {
  return { claimant: { instance, leaseMs: LEASE_MS } }
}

/** Claim all of them for this instance, in batches; answers the ids that it won. */
async function claimAll(
  store: Store,
  states: readonly ScheduleState[],
  instance: string,
  more: { slots?: readonly string[]; limit?: number } = {},
): Promise<string[]> {
  const won: string[] = []
  for (let start = 0; start < states.length; start += 25) {
    const changes = states.slice(start, start + 25).map((state) => claim(state, { instance, ...more }))
    const { results } = await store.apply(changes, claimant(instance))
    won.push(...changes.filter((_, index) => results[index]?.kind === 'applied').map(({ id }) => id))
  }
  return won
}

function withSlots(fire: OpenFire, slots: readonly string[]): OpenFire {
  return fire.run === null ? fire : { ...fire, run: { ...fire.run, slots } }
}

/** How often a race is run: a store that compares with what it read before may win some by luck. */
const ROUNDS = 20

export function claimingRules(rule: Rule): void {
  rule('only a live instance claims', async ({ store }) => {
    await join(store, 'live', 'left', 'dead')
    await store.beat(beat('left', { state: 'left' }))
    await bury(store, 'dead')
    const state = await create(store, schedule('s'))
    for (const instance of ['unknown', 'left', 'dead']) {
      const result = await applyOne(store, claim(state, { instance }), claimant(instance))
      assert.deepEqual(result, { kind: 'not-live' }, instance)
    }
    assert.deepEqual([await loadOne(store, 's'), await firesOf(store), await runsOf(store)], [state, [], []])
    assert.deepEqual(await applyOne(store, claim(state, { instance: 'live' }), claimant('live')), { kind: 'applied' })
  })

  rule('all changes of a claimant that is not live are refused', async ({ store }) => {
    const states = await Promise.all(['a', 'b'].map((id) => create(store, schedule(id))))
    const changes = [...states.map((state) => claim(state, { instance: 'unknown' })), creation(schedule('c'))]
    const { results } = await store.apply(changes, claimant('unknown'))
    assert.deepEqual(results, [{ kind: 'not-live' }, { kind: 'not-live' }, { kind: 'not-live' }])
    assert.deepEqual(new Set((await store.load(['a', 'b', 'c'])).schedules), new Set(states))
  })

  rule('a claim renews the lease, so that the claimer is not declared dead over an older look', async ({ store }) => {
    await join(store, 'i')
    const seen = await renewalsOf(store, 'i')
    const state = await create(store, schedule('s'))
    await applyAll(store, [claim(state, { instance: 'i' })], claimant('i'))
    assert.ok((await renewalsOf(store, 'i')) > seen)
    assert.equal(await store.mark({ kind: 'dead', instance: 'i', renewals: seen, hint: true }), false)
    assert.equal((await store.beat(beat('i'))).alive, true)
  })

  rule('a claim whose run has been settled since still refutes an older hint', async ({ store }) => {
    await join(store, 'i')
    // Planned when they started, as most are, or before: a store may have a shorter way for these.
    for (const plannedAt of [NOON, NOON + 5, NOON + 5, NOON]) {
      const seen = await renewalsOf(store, 'i')
      const state = await create(store, schedule(`after ${seen}`))
      const claimed = claim(state, { instance: 'i', plannedAt })
      await applyAll(store, [claimed], claimant('i'))
      await applyAll(store, [settlement(after(claimed), runOf(claimed))])
      assert.ok((await renewalsOf(store, 'i')) > seen)
      assert.equal(await store.mark({ kind: 'dead', instance: 'i', renewals: seen, hint: true }), false)
    }
    await bury(store, 'i')
  })

  rule(
    'a claimant renews its lease as often as it asks to, and is not declared dead on an older look',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const renewing = { claimant: { instance: 'i', leaseMs: LEASE_MS, renew: true } }
      const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((id) => create(store, schedule(id))))
      const claims = [
        claim(a!, { instance: 'i' }),
        // Planned when it started, as most are: a store may have a shorter way for these.
        claim(b!, { instance: 'i', plannedAt: NOON + 5 }),
        // Refused.
        { ...claim(c!, { instance: 'i' }), version: 99 },
      ]
      for (const changes of [[], [], ...claims.map((one) => [one])]) {
        const seen = await renewalsOf(store, 'i')
        const { renewed } = await store.apply(changes, renewing)
        assert.equal(renewed, true)
        assert.ok((await renewalsOf(store, 'i')) > seen)
        assert.equal(await store.mark({ kind: 'dead', instance: 'i', renewals: seen, hint: true }), false)
      }
      const other = { name: 'shop', version: 7 }
      const refused = await store.apply([claim(c!, { instance: 'i' })], { ...renewing, app: other })
      assert.deepEqual([refused.renewed, refused.results], [true, [{ kind: 'conflict' }]])
      await bury(store, 'i')
      for (const changes of [[], [claim(c!, { instance: 'i' })]]) {
        assert.equal((await store.apply(changes, renewing)).renewed, false, 'not once it is dead')
      }
    },
  )

  rule('a fire is claimed before it is due, with a start in the future, if notBefore allows it', async (bench) => {
    const { store, open, now } = bench
    await join(store, 'i')
    const at = await now()
    const startedAt = at + LEASE_MS / 4
    for (const [id, dueAt, plannedAt] of [
      ['planned when it starts', startedAt, startedAt],
      ['planned before', startedAt, at],
      ['started after it is due', startedAt - 5, startedAt],
    ] as const) {
      const state = await create(store, schedule(id, { nextAt: dueAt, wakeAt: dueAt }))
      const claimed = claim(state, { instance: 'i', dueAt, plannedAt, startedAt })
      const early = { ...claimed, notBefore: at + HOUR_MS }
      assert.deepEqual(await applyOne(store, early, claimant('i')), { kind: 'early' })
      await applyAll(store, [{ ...claimed, notBefore: at }], claimant('i'))
      for (const opened of [store, await open()]) assert.deepEqual(await loadOne(opened, id), after(claimed))
      const [run] = await runsOf(store, { schedule: id })
      assert.deepEqual([run?.startedAt, run?.token], [startedAt, runOf(claimed).token])
      assert.equal((await firesOf(store, { schedule: id }))[0]?.plannedAt, plannedAt)
      const { held } = await store.beat(beat('i'))
      assert.ok(held.some(({ schedule, token }) => schedule === id && token === runOf(claimed).token))
    }
  })

  rule('an instance whose lease ran out claims, unless it was declared dead', async (bench) => {
    const { store, pass, eventually } = bench
    await store.beat(beat('i', { join: true, leaseMs: 20 }))
    const expired = async () => (await store.listInstances()).instances[0]?.expired === true
    await pass(21)
    await eventually('the lease has run out', expired)
    const state = await create(store, schedule('s'))
    await applyAll(store, [claim(state, { instance: 'i' })], claimant('i'))
    assert.equal(await expired(), false, 'the claim renewed it')
  })

  rule(
    'after a failover nothing is due and no instance claims, until all live ones have settled',
    async ({ store, under, namespace }) => {
      await join(store, 'i', 'j', 'left')
      const state = await create(store, schedule('s'))
      const before = store.info.epoch
      await under.failOver!(namespace)
      const { epoch } = await store.load([])
      assert.ok(epoch > before)
      const wanted = { ...claim(state, { instance: 'i' }), epoch }
      const query = { jobs: [{ job: JOB, buckets: '1'.repeat(256) }], patienceMs: 0, limit: 1 }
      const isHeld = async (): Promise<void> => {
        assert.deepEqual((await store.due(query)).schedules, [])
        assert.deepEqual(await applyOne(store, wanted, claimant('i')), { kind: 'conflict' })
      }
      await isHeld()
      await store.beat({ ...beat('i'), settled: epoch })
      await isHeld()
      await store.beat(beat('left', { state: 'left' }))
      await store.beat({ ...beat('j'), settled: before })
      await isHeld()
      await store.beat({ ...beat('j'), settled: epoch })
      assert.equal((await store.due(query)).schedules.length, 1)
      assert.deepEqual(await applyOne(store, wanted, claimant('i')), { kind: 'applied' })
    },
    'failover',
  )

  rule(
    'after a failover, an instance whose lease has ended keeps no other from claiming',
    async ({ store, under, namespace, pass, eventually }) => {
      await store.beat(beat('gone', { join: true, leaseMs: 50 }))
      await join(store, 'i')
      const state = await create(store, schedule('s'))
      await under.failOver!(namespace)
      const { epoch } = await store.load([])
      const wanted = { ...claim(state, { instance: 'i', epoch }), epoch }
      await store.beat({ ...beat('i'), settled: epoch })
      await eventually('the lease has ended', async () => {
        await pass(20)
        return (await applyOne(store, wanted, claimant('i'))).kind === 'applied'
      })
    },
    'failover',
  )

  rule('of many concurrent claims, from different openings, exactly one gets each fire', async ({ store, open }) => {
    const stores = [store, await open()]
    const claimants = ['a', 'b', 'c', 'd']
    await join(store, ...claimants)
    const states = Array.from({ length: 200 }, (_, number) => schedule(`s${number}`))
    await applyAll(
      store,
      states.map((state) => creation(state)),
    )
    const { schedules } = await store.load(states.map(({ id }) => id))
    const won = await Promise.all(
      claimants.map((instance, index) => {
        // Each begins elsewhere, or one of them would win every race.
        const turned = [...schedules.slice(index * 50), ...schedules.slice(0, index * 50)]
        return claimAll(stores[index % 2]!, turned, instance)
      }),
    )
    assert.deepEqual(won.flat().sort(), states.map(({ id }) => id).sort())
    const holders = new Map(claimants.flatMap((instance, index) => won[index]!.map((id) => [id, instance])))
    const runs = await runsOf(store, { outcome: 'open' })
    assert.deepEqual(new Map(runs.map((run) => [run.schedule, run.instance])), holders)
    assert.equal(runs.length, states.length)
    const { schedules: claimed } = await store.load(states.map(({ id }) => id))
    assert.deepEqual(new Map(claimed.map((state) => [state.id, state.open[0]?.run?.instance])), holders)
  })

  rule('of many concurrent creations of one schedule, exactly one succeeds', async ({ store, open }) => {
    const stores = [store, await open(), await open(), await open()]
    for (let round = 0; round < ROUNDS; round++) {
      const authors = stores.map((_, fired) => schedule(`s${round}`, { fired }))
      const results = await Promise.all(stores.map((opened, index) => applyOne(opened, creation(authors[index]!))))
      const winners = authors.filter((_, index) => results[index]?.kind === 'applied')
      assert.equal(winners.length, 1, results.map(({ kind }) => kind).join())
      assert.equal((await loadOne(store, `s${round}`))?.fired, winners[0]?.fired)
    }
  })

  rule('of many concurrent changes of one schedule, exactly one succeeds', async ({ store, open }) => {
    const stores = [store, await open(), await open(), await open()]
    let state = await create(store, schedule('s'))
    for (let round = 1; round <= ROUNDS; round++) {
      const changes = stores.map((_, fired) => change(state, { fired }))
      const results = await Promise.all(stores.map((opened, index) => applyOne(opened, changes[index]!)))
      const winners = changes.filter((_, index) => results[index]?.kind === 'applied')
      assert.equal(winners.length, 1, results.map(({ kind }) => kind).join())
      state = after(winners[0]!)
      assert.deepEqual(await loadOne(store, 's'), state)
    }
  })

  rule('a limit holds for the fleet, and the refused claim writes nothing', async ({ store }) => {
    await join(store, 'i', 'j')
    const slots = ['job:report']
    await running(store, 'a', { instance: 'i', slots, limit: 2 })
    await running(store, 'b', { instance: 'j', slots, limit: 2 })
    const third = await create(store, schedule('c'))
    const result = await applyOne(store, claim(third, { instance: 'i', slots, limit: 2 }), claimant('i'))
    assert.deepEqual(result, { kind: 'full', slot: 'job:report' })
    assert.deepEqual(await loadOne(store, 'c'), third)
    assert.deepEqual(await firesOf(store, { schedule: 'c' }), [])
  })

  rule('a limit counts open runs: the end of one makes room', async ({ store }) => {
    await join(store, 'i')
    const slots = ['group:mail']
    const { state, run } = await running(store, 'a', { instance: 'i', slots })
    const second = await create(store, schedule('b'))
    const wanted = claim(second, { instance: 'i', slots })
    assert.deepEqual(await applyOne(store, wanted), { kind: 'full', slot: 'group:mail' })
    await applyAll(store, [settlement(state, run)])
    assert.deepEqual(await applyOne(store, wanted), { kind: 'applied' })
  })

  rule(
    'slots are counted from the state: what a run no longer names is free, what it names is taken',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const slots = ['job:report', 'group:mail']
      const answer = async (id: string): Promise<Change | ChangeResult> => {
        const wanted = claim(await create(store, schedule(id)), { instance: 'i', slots })
        const result = await applyOne(store, wanted)
        return result.kind === 'applied' ? wanted : result
      }
      for (const [index, named] of [[], ['group:mail'], ['job:other', 'group:mail']].entries()) {
        const { state, run } = await running(store, `a${index}`, { instance: 'i', slots })
        assert.deepEqual(await answer(`b${index}`), { kind: 'full', slot: 'job:report' })
        const renamed = change(state, { open: state.open.map((fire) => withSlots(fire, named)) })
        await applyAll(store, [renamed])
        const next = await answer(`c${index}`)
        if ('kind' in next) assert.deepEqual(next, { kind: 'full', slot: 'group:mail' })
        else await applyAll(store, [settlement(after(next), runOf(next))])
        assert.equal('kind' in next, named.length > 0)
        await applyAll(store, [settlement(after(renamed), run)])
        const last = await answer(`d${index}`)
        assert.ok(!('kind' in last), 'its end frees all of them')
        assert.deepEqual(await answer(`e${index}`), { kind: 'full', slot: 'job:report' }, 'and frees them once')
        await applyAll(store, [settlement(after(last), runOf(last))])
      }
    },
  )

  rule('the removal of a schedule frees what its open runs took', async ({ store }) => {
    await join(store, 'i')
    const slots = ['job:report']
    const { state } = await running(store, 'a', { instance: 'i', slots, limit: 2 })
    const both = claim(state, { instance: 'i', slots, limit: 2, dueAt: NOON + HOUR_MS })
    await applyAll(store, [both])
    const [one, two, three] = ['b', 'c', 'd'].map((id) => schedule(id))
    const wanted = { instance: 'i', slots, limit: 2 }
    const next = claim(await create(store, one!), wanted)
    assert.equal((await applyOne(store, next)).kind, 'full')
    await applyAll(store, [removal(after(both))])
    await applyAll(store, [next, claim(await create(store, two!), wanted)])
    assert.equal((await applyOne(store, claim(await create(store, three!), wanted))).kind, 'full', 'freed once')
    assert.deepEqual((await runsOf(store, { schedule: 'a' })).length, 0)
    assert.deepEqual((await store.beat(beat('i'))).held.map((run) => run.schedule).sort(), ['b', 'c'])
  })

  rule('a run that ends frees its slot for one that starts in the same change', async ({ store }) => {
    await join(store, 'i')
    const slots = ['job:report']
    const { state, run } = await running(store, 's', { instance: 'i', slots })
    const settled = settlement(state, run)
    const next = claim(state, { instance: 'i', slots, dueAt: NOON + HOUR_MS })
    const both = {
      ...next,
      state: { ...after(settled), tokens: after(next).tokens, open: after(next).open.slice(1) },
      history: settled.history,
    }
    assert.deepEqual(await applyOne(store, both), { kind: 'applied' })
    const other = claim(await create(store, schedule('other')), { instance: 'i', slots })
    assert.equal((await applyOne(store, other)).kind, 'full')
    await applyAll(store, [settlement(after(both), runOf(next)), other])
  })

  rule('a run that ends frees its slot for the next run of its own fire in the same change', async ({ store }) => {
    await join(store, 'i')
    const slots = ['job:report']
    const { state, run } = await running(store, 's', { instance: 'i', slots })
    const failed = settlement(state, run, { how: ending('error'), fireEnds: null })
    const again = claimAgain(after(failed), { instance: 'i', slots })
    const both = { ...again, version: failed.version, state: { ...after(again), version: failed.version + 1 } }
    await applyAll(store, [{ ...both, history: failed.history }])
    const runs = await runsOf(store)
    assert.deepEqual(
      runs.map(({ token, ending }) => [token, ending?.outcome]),
      [
        [runOf(again).token, undefined],
        [run.token, 'failed'],
      ],
    )
    const other = claim(await create(store, schedule('other')), { instance: 'i', slots })
    assert.equal((await applyOne(store, other)).kind, 'full')
  })

  rule('a run keeps its slots when it is parked', async ({ store }) => {
    await join(store, 'i')
    const slots = ['job:report']
    const { state, run } = await running(store, 'a', { instance: 'i', slots })
    const parked = parking(state, run)
    await applyAll(store, [parked])
    const next = claim(await create(store, schedule('b')), { instance: 'i', slots })
    assert.equal((await applyOne(store, next)).kind, 'full')
    await applyAll(store, [settlement(after(parked), run), next])
  })

  rule('the runs of a dead instance fill their slots until they are ended', async ({ store }) => {
    await join(store, 'i', 'j')
    const slots = ['job:report']
    await running(store, 'a', { instance: 'i', slots })
    await bury(store, 'i')
    const second = await create(store, schedule('b'))
    assert.equal((await applyOne(store, claim(second, { instance: 'j', slots }))).kind, 'full')
  })

  rule('every limit of a run must have room, and each slot is counted by itself', async ({ store }) => {
    await join(store, 'i')
    await running(store, 'a', { instance: 'i', slots: ['job:x', 'group:g'], limit: 2 })
    await running(store, 'b', { instance: 'i', slots: ['group:g'], limit: 2 })
    const third = await create(store, schedule('c'))
    const both = claim(third, { instance: 'i', slots: ['job:x', 'group:g'], limit: 2 })
    assert.deepEqual(await applyOne(store, both), { kind: 'full', slot: 'group:g' })
    await applyAll(store, [claim(third, { instance: 'i', slots: ['job:x'], limit: 2 })])
  })

  rule(
    'a limit that was lowered holds from the next claim on, and one that was raised makes room',
    async ({ store }) => {
      await join(store, 'i')
      const slots = ['job:report']
      for (const id of ['a', 'b', 'c']) await running(store, id, { instance: 'i', slots, limit: 3 })
      const fourth = await create(store, schedule('d'))
      assert.equal((await applyOne(store, claim(fourth, { instance: 'i', slots, limit: 1 }))).kind, 'full')
      assert.equal((await applyOne(store, claim(fourth, { instance: 'i', slots, limit: 3 }))).kind, 'full')
      assert.equal((await applyOne(store, claim(fourth, { instance: 'i', slots, limit: 4 }))).kind, 'applied')
    },
  )

  rule('an end that is refused makes no room for what follows in its batch', async ({ store, open }) => {
    await join(store, 'i')
    const slots = ['job:report']
    const { state, run } = await running(store, 'a', { instance: 'i', slots })
    const next = await create(store, schedule('b'))
    // Elsewhere, so that this opening may still believe in what it wrote.
    await applyAll(await open(), [cancellation(state, run)])
    const { results } = await store.apply(
      [settlement(state, run), claim(next, { instance: 'i', slots })],
      claimant('i'),
    )
    assert.deepEqual(results, [{ kind: 'conflict' }, { kind: 'full', slot: 'job:report' }])
  })

  rule('a batch fills a limit in order', async ({ store }) => {
    await join(store, 'i')
    const states = await Promise.all(['a', 'b', 'c'].map((id) => create(store, schedule(id))))
    const changes = states.map((state) => claim(state, { instance: 'i', slots: ['job:report'], limit: 2 }))
    const { results } = await store.apply(changes, claimant('i'))
    assert.deepEqual(results, [{ kind: 'applied' }, { kind: 'applied' }, { kind: 'full', slot: 'job:report' }])
  })

  rule('a batch may name hundreds of limits, and hundreds of instances', async ({ store }) => {
    await join(store, 'i')
    const states = Array.from({ length: 300 }, (_, number) => schedule(`s${number}`))
    await applyAll(
      store,
      states.map((state) => creation(state)),
    )
    const { schedules } = await store.load(states.map(({ id }) => id))
    const claims = schedules.map((state) =>
      claim(state, { instance: 'i', slots: [`job:${state.id}`, 'group:g'], limit: 300 }),
    )
    await applyAll(store, claims, claimant('i'))
    assert.equal((await runsOf(store, { outcome: 'open' })).length, 300)
    const held = (number: number, dueAt: number): Change => {
      return claim(after(claims[number]!), { instance: `gone-${number}`, dueAt })
    }
    await applyAll(
      store,
      schedules.map((_, number) => held(number, NOON + HOUR_MS)),
    )
    assert.equal((await runsOf(store, { outcome: 'open', instance: 'gone-7' })).length, 1)
  })

  rule('a schedule that is made again has its place in the batch like any other', async ({ store }) => {
    await join(store, 'i')
    const slots = { instance: 'i', slots: ['job:report'], limit: 1 }
    const [again, other] = [await create(store, schedule('again')), await create(store, schedule('other'))]
    await applyAll(store, [removal(again)])
    const { creates, limits, state } = claim(again, slots)
    const made = creation(schedule('again', { tokens: 1, open: state!.open }), { creates, limits })
    const { results } = await store.apply([made, claim(other, slots)])
    assert.deepEqual(results, [{ kind: 'applied' }, { kind: 'full', slot: 'job:report' }])
  })

  rule('concurrent claims never exceed the limit', async ({ store, open }) => {
    const stores = [store, await open()]
    const claimants = ['a', 'b', 'c', 'd']
    await join(store, ...claimants)
    const states = Array.from({ length: 40 }, (_, number) => schedule(`s${number}`))
    await applyAll(
      store,
      states.map((state) => creation(state)),
    )
    const { schedules } = await store.load(states.map(({ id }) => id))
    const won = await Promise.all(
      claimants.map((instance, index) => {
        const own = schedules.slice(index * 10, index * 10 + 10)
        return claimAll(stores[index % 2]!, own, instance, { slots: ['job:report'], limit: 5 })
      }),
    )
    assert.equal(won.flat().length, 5)
    assert.equal((await runsOf(store, { outcome: 'open' })).length, 5)
  })

  rule('the first concurrent claims under a new limit never exceed it', async ({ store, open }) => {
    const stores = [store, await open(), await open(), await open()]
    await join(store, 'i')
    for (let round = 0; round < ROUNDS; round++) {
      const states = await Promise.all(stores.map((_, index) => create(store, schedule(`s${round}-${index}`))))
      const wanted = { instance: 'i', slots: [`group:${round}`], limit: 1 }
      const results = await Promise.all(
        stores.map((opened, index) => applyOne(opened, claim(states[index]!, wanted), claimant('i'))),
      )
      assert.deepEqual(results.map(({ kind }) => kind).sort(), ['applied', 'full', 'full', 'full'])
    }
  })

  rule('a run that holds a place is not counted again when it is written again', async ({ store }) => {
    await join(store, 'i')
    const slots = ['job:report']
    const { state, run } = await running(store, 'a', { instance: 'i', slots })
    const again = { ...cancellation(state, run), limits: [{ slot: 'job:report', limit: 1 }] }
    assert.deepEqual(await applyOne(store, again), { kind: 'applied' })
    await applyAll(store, [settlement(after(again), run)])
    const next = await create(store, schedule('b'))
    assert.deepEqual(await applyOne(store, claim(next, { instance: 'i', slots })), { kind: 'applied' })
  })

  rule('two runs of one schedule may be open, each under its own token', async ({ store }) => {
    await join(store, 'i')
    const first = await running(store, 's', { instance: 'i' })
    const second = claim(first.state, { instance: 'i', dueAt: NOON + HOUR_MS })
    await applyAll(store, [second], claimant('i'))
    await applyAll(store, [settlement(after(second), first.run)])
    assert.deepEqual(
      (await runsOf(store, { outcome: 'open' })).map(({ token }) => token),
      [runOf(second).token],
    )
  })
}
