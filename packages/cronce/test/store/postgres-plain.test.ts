import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import type { ActivityRecord } from '../../src/model/activity.ts'
import type { Change } from '../../src/model/change.ts'
import { ending } from '../../src/model/outcome.ts'
import type { HistoryRecord } from '../../src/model/record.ts'
import { isRunning, type OpenFire, type RunningFire, type ScheduleState } from '../../src/model/schedule.ts'
import { makeToken } from '../../src/model/token.ts'
import { viewEndedFire, viewOpenRun } from '../../src/model/views.ts'
import type { Database } from '../../src/store/postgres/database.ts'
import { settleIdentity } from '../../src/store/postgres/identity.ts'
import { migrateUp } from '../../src/store/postgres/migrate.ts'
import { openDatabase } from '../../src/store/postgres/open.ts'
import { openStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { applyAll, applyOne, bury, collect, create, join, loadOne } from '../../src/testing/conformance/bench.ts'
import {
  beat,
  change,
  creation,
  definition,
  endedLine,
  HOUR_MS,
  NOON,
  schedule,
  settlement,
  waiting,
  withFires,
} from '../../src/testing/conformance/samples.ts'

const SCHEDULES = 6
const ROUNDS = 150
const CLAIMANT = { instance: 'i', leaseMs: 60_000 }

let server: Server
before(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
after(() => server.stop())

/** Numbers that are the same in every run of the test. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

type Roll = ReturnType<typeof dice>

/** Claim the next fire: plain, unless one of its parts is uncommon. */
function randomClaim(state: ScheduleState, roll: Roll, number: number): Change {
  const dueAt = NOON + (roll(8) === 0 ? roll(40) : state.tokens + 1) * HOUR_MS
  const startedAt = dueAt + roll(1_000)
  const tokens = state.tokens + (roll(15) === 0 ? 2 : 1)
  const nextAt = roll(15) === 0 ? null : dueAt + HOUR_MS
  const run = {
    ...{ token: makeToken(1 + roll(2), tokens), instance: 'i', claim: number, startedAt, cancel: null },
    ...(roll(10) === 0 ? { cause: 'turn' as const } : {}),
  }
  const uncommon: Partial<OpenFire> =
    roll(8) === 0 ? { readyAt: dueAt + 7 } : roll(8) === 0 ? { nonce: `n${tokens}` } : {}
  const over: Partial<ScheduleState> = {
    tokens,
    fired: state.fired + (roll(10) === 0 ? 2 : 1),
    nextAt,
    wakeAt: roll(10) === 0 ? null : roll(10) === 0 ? dueAt + HOUR_MS + roll(100) : nextAt,
    ...(roll(8) > 0 ? { plannedTo: dueAt } : roll(2) === 0 ? { plannedTo: dueAt - 1 } : {}),
    ...(roll(20) === 0 ? { zoneData: '2026a' } : {}),
    ...(roll(20) === 0 ? { failedInRow: 9 } : {}),
  }
  const notBefore = roll(10) === 0 ? 9e15 : roll(2) === 0 ? dueAt : null
  const fire = waiting(dueAt, { plannedAt: startedAt, attempt: 1, run, ...uncommon })
  return withFires(change(state, over, { notBefore }), [fire])
}

function randomSettlement(state: ScheduleState, fire: OpenFire, roll: Roll): Change {
  if (!isRunning(fire)) return change(state, { open: state.open.filter((one) => one !== fire) })
  const isOk = roll(3) > 0
  const end = settlement(state, viewOpenRun(state, fire), {
    how: isOk ? ending('completed') : ending('error', roll(2) === 0 ? null : 'it\'s "broken" \\ {here}'),
    ...(roll(2) === 0 ? { result: { text: 'a "b" \\ c\u0000', list: [1, null] } } : {}),
    ...(roll(6) === 0 ? { fireEnds: null } : {}),
  })
  // A run that was claimed ahead of time may have started at another time than expected.
  const lateMs = roll(3) === 0 ? roll(100) : 0
  const gap = roll(15) === 0 ? 1 : 0
  const lines = end.history.map((line): HistoryRecord => {
    const run = line.run && { ...line.run, startedAt: line.run.startedAt + lateMs }
    return {
      ...line,
      number: line.number + gap,
      run,
      plannedAt: fire.plannedAt,
      attempt: 1 + roll(2),
      tenant: roll(3) === 0 ? 'acme' : line.tenant,
    }
  })
  const last = {
    dueAt: fire.dueAt,
    succeededDueAt: isOk ? fire.dueAt : null,
    succeededAt: isOk ? fire.dueAt + 9 : null,
  }
  const state2 = { ...end.state!, ended: end.state!.ended + gap, last, failedInRow: isOk ? 0 : state.failedInRow + 1 }
  return { ...end, state: roll(15) === 0 ? { ...state2, wakeAt: NOON } : state2, history: lines }
}

/** What each round of decisions comes to, drawn by the same dice for both stores. */
async function play(store: Store, roll: Roll): Promise<string[]> {
  const told: string[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const { schedules } = await store.load(Array.from({ length: SCHEDULES }, (_, index) => `s${index}`))
    const states = schedules.toSorted((one, other) => (one.id < other.id ? -1 : 1))
    const idle = states.filter(({ open }) => open.length === 0 || roll(6) === 0)
    const busy = states.filter(({ open }) => open.length > 0)
    const claims = idle.map((state) => randomClaim(state, roll, round))
    const ends = busy.map((state) => randomSettlement(state, state.open[roll(state.open.length)]!, roll))
    // A change that was decided on an older version.
    const stale = ends.slice(0, roll(2)).map((end) => ({ ...end, version: end.version - 1 }))
    const claimed = await store.apply(claims, { claimant: CLAIMANT })
    const ended = await store.apply([...ends, ...stale])
    told.push(JSON.stringify([states, claimed.results, ended.results]))
  }
  return told
}

async function everything(store: Store): Promise<unknown> {
  const { schedules } = await store.load(Array.from({ length: SCHEDULES }, (_, index) => `s${index}`))
  const { held } = await store.beat(beat('i'))
  return {
    states: schedules.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    fires: await collect((page) => store.listRecords({ ...page, view: 'fires' })),
    runs: await collect((page) => store.listRecords({ ...page, view: 'runs' })),
    held: held.toSorted((one, other) => (one.token < other.token ? -1 : 1)),
    hours: (await store.countFires({ from: -1, to: 9e15 })).hours,
    due: (await store.due({ jobs: [{ job: 'report', buckets: '1'.repeat(256) }], patienceMs: 0, limit: 50 })).schedules,
  }
}

/** A database that counts what it is asked. */
function counting(database: Database, counts: Map<string, number>): Database {
  return {
    name: database.name,
    transactions: database.transactions,
    ask(statement, values) {
      counts.set(statement.name, (counts.get(statement.name) ?? 0) + 1)
      return database.ask(statement, values)
    },
    askIn: (tx, statement, values) => database.askIn(tx, statement, values),
    script: (sql) => database.script(sql),
    transaction: (work) => database.transaction(work),
    session: () => database.session(),
    close: () => database.close(),
  }
}

/** Two processes on one namespace, and how often each used the plain statements. */
async function pairOf(context: TestContext) {
  const warn = (): void => {}
  const database = openDatabase(server.url, { session: false, warn })
  context.after(() => database.close())
  await migrateUp(database, 'cronce')
  const epoch = await settleIdentity(database, 'cronce', { adopt: false, warn })
  const counts = new Map<string, number>()
  const options = { namespace: context.name, warn }
  const [store, peer] = [0, 1].map(() => openStore(counting(database, counts), 'cronce', epoch, options))
  await join(store!, 'i')
  return { store: store!, peer: peer!, uses: (name: string) => counts.get(name) ?? 0 }
}

function plainClaimOf(state: ScheduleState, dueAt = NOON, more: Partial<Change> = {}): Change {
  const tokens = state.tokens + 1
  const run = { token: makeToken(1, tokens), instance: 'i', claim: tokens, startedAt: dueAt + 5, cancel: null }
  const nextAt = dueAt + HOUR_MS
  const over = { tokens, fired: state.fired + 1, plannedTo: dueAt, nextAt, wakeAt: nextAt }
  return withFires(change(state, over, more), [waiting(dueAt, { plannedAt: dueAt + 5, attempt: 1, run })])
}

function plainEndOf({ state }: Change, more: Partial<Change> = {}): Change {
  const fire = state!.open[0]!
  return { ...settlement(state!, viewOpenRun(state!, fire as RunningFire)), ...more }
}

test('a plain change that was decided on an older version is refused', async (context) => {
  const { store, peer, uses } = await pairOf(context)
  const state = await create(store, schedule('s'))
  const changed = change(state, { failedInRow: 3 })
  await loadOne(peer, 's')
  await applyAll(peer, [changed])

  assert.deepEqual(await applyOne(store, plainClaimOf(state), { claimant: CLAIMANT }), { kind: 'conflict' })
  const claimed = plainClaimOf((await loadOne(store, 's'))!)
  await applyAll(store, [claimed], { claimant: CLAIMANT })
  const again = change((await loadOne(peer, 's'))!, { fired: 9 })
  await applyAll(peer, [again])
  assert.deepEqual(await applyOne(store, plainEndOf(claimed)), { kind: 'conflict' })

  assert.deepEqual([uses('claim'), uses('settle')], [2, 1])
  assert.equal((await loadOne(store, 's'))!.fired, 9)
})

test('a plain claim of a fire that is on record is refused with its record', async (context) => {
  const { store, uses } = await pairOf(context)
  const line = endedLine('s', NOON, { number: 1, expiresAt: NOON + HOUR_MS })
  await applyAll(store, [withFires(change(await create(store, schedule('s'))), [line])])
  const state = (await loadOne(store, 's'))!

  const result = await applyOne(store, plainClaimOf(state), { claimant: CLAIMANT })

  assert.deepEqual([result, uses('claim')], [{ kind: 'exists', fire: viewEndedFire(line) }, 1])
  assert.deepEqual(await loadOne(store, 's'), state)
})

test('a plain claim of a fire that a plain claim has created before is refused with its record', async (context) => {
  const { store, uses } = await pairOf(context)
  const claimed = plainClaimOf(await create(store, schedule('s')))
  await applyAll(store, [claimed], { claimant: CLAIMANT })
  await applyAll(store, [plainEndOf(claimed)])
  const state = (await loadOne(store, 's'))!

  const result = await applyOne(store, plainClaimOf(state), { claimant: CLAIMANT })

  assert.deepEqual([result.kind, uses('claim'), uses('settle')], ['exists', 2, 1])
  assert.deepEqual(await loadOne(store, 's'), state)
})

const LINE: ActivityRecord = {
  ...{ id: 'line', at: NOON, action: 'cancel', origin: 'cli', author: null, note: null },
  ...{ subject: { type: 'schedule', name: 's' }, changed: {}, expiresAt: 2 * NOON },
}

test('a change with a line of the operator log is not a plain one', async (context) => {
  const { store, uses } = await pairOf(context)
  const claimed = plainClaimOf(await create(store, schedule('s')))
  await applyAll(store, [claimed], { claimant: CLAIMANT })
  assert.deepEqual(await applyOne(store, plainEndOf(claimed, { activity: LINE })), { kind: 'applied' })
  assert.deepEqual((await store.listActivity({ after: null, limit: 9 })).items, [LINE])
  assert.deepEqual([uses('claim'), uses('settle')], [1, 0])
})

test('a plain change of another epoch is refused', async (context) => {
  const { store, uses } = await pairOf(context)
  const state = await create(store, schedule('s'))
  const epoch = store.info.epoch + 1

  const early = await applyOne(store, plainClaimOf(state, NOON, { epoch }), { claimant: CLAIMANT })
  const claimed = plainClaimOf(state)
  await applyAll(store, [claimed], { claimant: CLAIMANT })
  const late = await applyOne(store, plainEndOf(claimed, { epoch }))

  assert.deepEqual([early, late], [{ kind: 'conflict' }, { kind: 'conflict' }])
  assert.deepEqual([uses('claim'), uses('settle')], [2, 1])
})

test('only a live instance makes a plain claim', async (context) => {
  const { store, uses } = await pairOf(context)
  const state = await create(store, schedule('s'))
  await store.beat(beat('i', { state: 'left' }))

  assert.deepEqual(await applyOne(store, plainClaimOf(state), { claimant: CLAIMANT }), { kind: 'not-live' })

  assert.deepEqual([await loadOne(store, 's'), uses('claim')], [state, 1])
})

test('a plain claim is held by its instance, and an orphan once that is dead', async (context) => {
  const { store, peer, uses } = await pairOf(context)
  const claimed = plainClaimOf(await create(store, schedule('s')))
  await applyAll(store, [claimed], { claimant: CLAIMANT })
  const { token } = claimed.state!.open[0]!.run!
  const held = [{ schedule: 's', token, claim: 1, cancel: null }]
  assert.deepEqual((await store.beat(beat('i'))).held, held)
  // The state stops being plain, and becomes plain again: the claim is found all the while.
  const paused = change(claimed.state!, { pause: { at: NOON, until: null, note: null, author: null, missed: 'skip' } })
  await applyAll(peer, [paused])
  assert.deepEqual((await store.beat(beat('i'))).held, held)
  await applyAll(peer, [change(paused.state!, { pause: null })])
  assert.deepEqual((await store.beat(beat('i'))).held, held)
  await join(peer, 'j')
  await bury(peer, 'i')
  assert.deepEqual((await peer.beat(beat('j'))).chores.orphans, ['i'])
  assert.equal(uses('claim'), 1)
})

test('a plain claim may start its run in the future, and a plain settlement may have another start', async (context) => {
  const { store, peer, uses } = await pairOf(context)
  const { now } = await store.load([])
  const claimed = plainClaimOf(await create(store, schedule('s')), now + 10_000, { notBefore: now })
  const general = uses('apply')
  await applyAll(store, [claimed], { claimant: { ...CLAIMANT, renew: true } })
  assert.deepEqual(await loadOne(peer, 's'), claimed.state)
  const end = plainEndOf(claimed)
  const [line] = end.history
  const startedAt = line!.run!.startedAt - 3
  await applyAll(store, [{ ...end, history: [{ ...line!, run: { ...line!.run!, startedAt } }] }])
  const { items } = await peer.listRecords({ view: 'runs', after: null, limit: 9 })
  assert.deepEqual([items.length, items[0]?.run?.startedAt], [1, startedAt])
  assert.deepEqual([uses('claim'), uses('settle'), uses('apply') - general], [1, 1, 0])
})

test('what the plain statements write is what the general one would have written', async (context) => {
  const warn = (): void => {}
  const database = openDatabase(server.url, { session: false, warn })
  context.after(() => database.close())
  await migrateUp(database, 'cronce')
  const epoch = await settleIdentity(database, 'cronce', { adopt: false, warn })
  for (const seed of [1, 2, 3]) {
    const counts = [new Map<string, number>(), new Map<string, number>()]
    const stores = [true, false].map((usesPlain, index) =>
      openStore(
        counting(database, counts[index]!),
        'cronce',
        epoch,
        { namespace: `${seed} ${usesPlain}`, warn },
        usesPlain,
      ),
    )
    const told: string[][] = []
    for (const store of stores) {
      await join(store, 'i')
      const tenant = seed === 2 ? 'umbrella' : null
      const states = Array.from({ length: SCHEDULES }, (_, index) =>
        schedule(`s${index}`, { definition: definition({ tenant }) }),
      )
      await store.apply(states.map((state) => creation(state)))
      told.push(await play(store, dice(seed)))
    }
    const [one, other] = told as [string[], string[]]
    // Only the first round that differs: all that follows from it takes minutes to print.
    const round = one.findIndex((text, index) => text !== other[index])
    assert.equal(one[round], other[round])
    assert.deepEqual(await everything(stores[0]!), await everything(stores[1]!))
    const [plain, general] = counts.map((count) => (name: string) => count.get(name) ?? 0)
    assert.ok(plain!('claim') > ROUNDS / 3 && plain!('settle') > ROUNDS / 3, 'the plain statements were used')
    assert.deepEqual([general!('claim'), general!('settle')], [0, 0])
  }
})
