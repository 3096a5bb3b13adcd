import assert from 'node:assert/strict'
import test from 'node:test'
import { copyData, hashData, type MemoryData, memory, type NamespaceData } from '../../src/memory.ts'
import { bucketOf } from '../../src/model/bucket.ts'
import type { Change } from '../../src/model/change.ts'
import { ending } from '../../src/model/outcome.ts'
import type { FireKey, FireRecord, HistoryRecord, RunRecord } from '../../src/model/record.ts'
import { isRunning, type OpenFire, type ScheduleState } from '../../src/model/schedule.ts'
import { viewEndedFire, viewEndedRun, viewOpenFire, viewOpenRun } from '../../src/model/views.ts'
import { listFires, listRuns, ofFire, type ViewQuery } from '../../src/store/list-views.ts'
import { runKeyText } from '../../src/store/memory/data.ts'
import { ascend, descend, find, insert, remove, sorted } from '../../src/store/memory/sorted.ts'
import type { Applied, Due, DueQuery, ScheduleQuery, Store } from '../../src/store/store.ts'
import {
  beat,
  change,
  claim,
  claimAgain,
  creation,
  definition,
  endedLine,
  keyOf,
  missedRange,
  NOON,
  removal,
  reopening,
  schedule,
  settlement,
  waiting,
  withFires,
} from '../../src/testing/conformance/samples.ts'

// Whatever was done, and however it was taken back: the derived indexes answer as a plain look through the data would, and
// as indexes that are made anew. CRONCE_CASES=50 makes a long run of it, CRONCE_SEED picks another one.
const { CRONCE_CASES = '1', CRONCE_SEED = '20261101' } = process.env
const ROUNDS = Math.ceil(40 * Number(CRONCE_CASES))
const STEPS = 120
const SCHEDULES = ['a', 'b', 'c', 'd', 'e', 'f']
const INSTANCES = ['i', 'j', 'k']
const JOBS = ['mail', 'report']
const SLOTS = [[], ['job:mail'], ['job:mail', 'group:g']]
const NAMESPACE = 'default'
const UNTOLD = { progress: null, log: [], logCut: false }

type Random = (below: number) => number

function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

function oneOf<Item>(random: Random, items: readonly Item[]): Item {
  return items[random(items.length)]!
}

function dataOf({ namespaces }: MemoryData): NamespaceData {
  return namespaces.get(NAMESPACE)!
}

/** Any change that the schedule's state allows, and some that are refused. */
function anyChange(random: Random, data: NamespaceData, id: string): Change {
  const state = data.schedules.get(id)
  const job = oneOf(random, JOBS)
  const wakeAt = random(4) === 0 ? null : NOON + random(60)
  if (state === undefined) return creation(schedule(id, { wakeAt, definition: definition({ job }) }))
  const dueAt = NOON + random(40)
  const lines = [...data.history.values()].filter((line) => line.schedule === id)
  const isOpen = (line: HistoryRecord) => state.open.some((open) => isSame(open, line))
  const ended = lines.filter((line) => line.isFinal && !isOpen(line))
  const runs = state.open.filter(isRunning).map((open) => viewOpenRun(state, open))
  const idle = state.open.filter((open) => open.run === null)
  const number = state.ended + 1
  switch (random(13)) {
    case 0:
      return change(state, { wakeAt, revision: state.revision + 1, definition: definition({ job }) })
    case 1:
    case 2: {
      if (runs.length === 0) return random(3) === 0 ? removal(state) : change(state, { wakeAt })
      const fireEnds = oneOf(random, [undefined, null, ending('crash-budget')])
      const how = ending(oneOf(random, ['completed', 'error']))
      const expiresAt = NOON + random(100)
      return settlement(state, oneOf(random, runs), { how, expiresAt, ...(fireEnds === undefined ? {} : { fireEnds }) })
    }
    case 3: {
      const over = { nonce: oneOf(random, ['', 'n', 'm']), number, expiresAt: NOON + random(100), endedAt: NOON }
      return withFires(change(state), [endedLine(id, dueAt, over)])
    }
    case 4:
      return withFires(change(state), [missedRange(id, dueAt, 1 + random(3), number)])
    case 5: {
      if (ended.length === 0) return change(state, { wakeAt })
      const line = oneOf(random, ended)
      if (line.range === null) return reopening(state, line)
      const open = [...state.open, waiting(line.dueAt, { round: 2 })]
      return change(state, { open }, { rewrites: [{ ...line, range: null, isFinal: false }] })
    }
    case 6: {
      const range = ended.find((line) => line.range !== null)
      return change(state, {}, { rewrites: range ? [{ ...missedRange(id, range.dueAt, 1, range.number), job }] : [] })
    }
    case 7: {
      const rewrites = lines.filter(({ run }) => run !== null).slice(0, 2)
      return change(state, {}, { rewrites: rewrites.map((line) => ({ ...line, job, ending: ending('timeout') })) })
    }
    case 8:
      return change(state, {}, { trim: { belowNumber: random(number + 1), endedBefore: NOON + random(60) } })
    case 9: {
      if (idle.length === 0) return change(state, { wakeAt })
      const fire = oneOf(random, idle)
      const line = endedLine(id, fire.dueAt, { ...viewFire(state, fire), number, expiresAt: NOON + random(100) })
      const open = state.open.filter((one) => one !== fire)
      return change(state, { ended: number, open }, { history: [line], reopens: random(2) === 0 ? [keyOf(line)] : [] })
    }
    default: {
      const slots = oneOf(random, SLOTS)
      const chosen = { instance: oneOf(random, INSTANCES), slots, startedAt: NOON + random(40), limit: 1 + random(3) }
      const fire = oneOf(random, idle)
      const claimed =
        random(2) === 0 && fire !== undefined
          ? claimAgain(state, { ...chosen, dueAt: fire.dueAt, nonce: fire.nonce })
          : claim(state, { ...chosen, dueAt, nonce: oneOf(random, ['', 'n', 'o']) })
      return { ...claimed, state: { ...claimed.state!, wakeAt } }
    }
  }
}

/** What a line has in common with the open fire that it ends. */
function viewFire(state: ScheduleState, fire: OpenFire): Partial<HistoryRecord> {
  const { nonce, kind, round, attempt, plannedAt, readyAt } = fire
  return { nonce, kind, round, attempt, plannedAt, readyAt, job: state.definition.job }
}

function isSame(one: Pick<FireKey, 'dueAt' | 'nonce'>, other: Pick<FireKey, 'dueAt' | 'nonce'>): boolean {
  return one.dueAt === other.dueAt && one.nonce === other.nonce
}

async function anyStep(
  random: Random,
  store: Store,
  source: ReturnType<typeof memory>,
  note: (applied: Applied) => void,
): Promise<void> {
  const data = dataOf(source.data)
  const instance = oneOf(random, INSTANCES)
  const runs = allRuns(data)
  const run = runs.at(random(Math.max(1, runs.length)))
  const changes = () => [oneOf(random, SCHEDULES), oneOf(random, SCHEDULES)].map((id) => anyChange(random, data, id))
  switch (random(12)) {
    case 0:
      await store.beat(beat(instance, { join: true, leaseMs: 1 + random(50) }))
      return
    case 1:
      if (random(4) > 0) return
      await store.mark({
        kind: 'dead',
        instance,
        renewals: data.instances.get(instance)?.record.renewals ?? 0,
        hint: true,
      })
      return
    case 2:
      if (run === undefined) return
      await store.step({ kind: 'begin', fire: keyOf(run), step: `step ${random(3)}`, token: run.token, rerun: true })
      await store.annotate([{ ...run, progress: null, log: [], logCut: true }])
      return
    case 3:
      await store.prune(1 + random(3))
      return
    case 4: {
      const gone = SCHEDULES.filter((id) => !data.schedules.has(id))
      if (gone.length > 0) await store.prune(1 + random(3), oneOf(random, gone))
      return
    }
    case 5: {
      const hash = hashData(source.data)
      const failing = source.transaction(async (tx) => {
        tx.set('a', random(9))
        await store.apply(changes(), { tx, claimant: { instance, leaseMs: 10 } })
        await store.apply(changes(), { tx })
        throw new RangeError('rolled back')
      })
      await assert.rejects(failing, RangeError)
      assert.equal(hashData(source.data), hash, 'a rollback leaves no trace')
      return
    }
    case 6:
      await source.transaction((tx) => store.apply(changes(), { tx }))
      return
    default:
      return note(await store.apply(changes(), random(2) === 0 ? {} : { claimant: { instance, leaseMs: 10 } }))
  }
}

test(`indexes answer as a look through the data would (seed ${CRONCE_SEED})`, async () => {
  const seen = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const random = randomFrom(Number(CRONCE_SEED) + round)
    let now = NOON
    const clock = { wall: () => now }
    const source = memory({ clock })
    const options = { namespace: NAMESPACE, adopt: false, production: false, warn: () => {} }
    const store = await source.open(options)
    for (let step = 0; step < STEPS; step++) {
      await anyStep(random, store, source, ({ results }) => {
        for (const { kind } of results) seen.add(kind)
      })
      if (random(6) === 0) now = NOON + random(100)
    }
    const copied = copyData(source.data)
    const anew = await memory({ clock, data: copied }).open(options)
    await compareAll(random, now, dataOf(source.data), [store, anew])
    for (const instance of INSTANCES) {
      assert.deepEqual(await anew.beat(beat(instance)), await store.beat(beat(instance)))
    }
    for (const one of [store, anew]) await clearAway(one, dataOf(source.data))
    assert.equal(hashData(copied), hashData(source.data), 'both forget the same')
    for (const [name, map] of Object.entries(dataOf(source.data))) if (map.size > 0) seen.add(name)
  }
  const interesting = ['applied', 'conflict', 'exists', 'full', 'not-live', 'history', 'steps', 'notes']
  assert.deepEqual(
    interesting.filter((name) => !seen.has(name)),
    [],
    'what never happened was not tested',
  )
})

test('a sorted list is in order at any length', () => {
  const random = randomFrom(Number(CRONCE_SEED))
  const list = sorted<number>((one, other) => one - other)
  const plain = new Set<number>()
  for (const [adds, spread] of [
    [3_000, 20_000],
    [500, 20_000],
    [0, 20_000],
  ] as const) {
    for (let step = 0; step < 3_000; step++) {
      const number = random(spread)
      const isAdded = random(3_000) < adds
      if (isAdded && !plain.has(number)) insert(list, number)
      if (isAdded) plain.add(number)
      else {
        remove(list, number)
        plain.delete(number)
      }
      assert.equal(find(list, number), isAdded ? number : undefined)
    }
    for (let number = 20_000; adds === 3_000 && number < 21_000; number++) {
      insert(list, number)
      plain.add(number)
    }
    const all = [...plain].sort((one, other) => one - other)
    assert.deepEqual([...ascend(list)], all)
    assert.deepEqual([...descend(list)], all.toReversed())
    for (let probe = 0; probe < 200; probe++) {
      const at = random(22_000) - 500
      const behind = all.filter((number) => number > at)
      assert.deepEqual([...ascend(list, at)], behind)
      assert.deepEqual([...ascend(list, at, true)], plain.has(at) ? [at, ...behind] : behind)
      const before = all.filter((number) => number < at)
      assert.deepEqual([...descend(list, at)], before.toReversed())
    }
  }
})

/** What has a time or a number goes, a few at a time. */
async function clearAway(store: Store, data: NamespaceData): Promise<void> {
  for (const id of SCHEDULES) {
    const [state] = (await store.load([id])).schedules
    const trim = { belowNumber: 1 + ((data.schedules.get(id)?.ended ?? 0) >> 1), endedBefore: NOON + 30 }
    if (state !== undefined) await store.apply([change(state, {}, { trim })])
  }
  await store.prune(3)
}

async function compareAll(random: Random, now: number, data: NamespaceData, stores: readonly Store[]): Promise<void> {
  const maybe = <Value>(value: Value): Value | undefined => (random(3) === 0 ? value : undefined)
  for (let query = 0; query < 30; query++) {
    const about = { schedule: maybe(oneOf(random, SCHEDULES)), job: maybe(oneOf(random, JOBS)) }
    const outcome = maybe(oneOf(random, ['open', 'succeeded', 'missed', 'failed', 'abandoned'] as const))
    const stretch = { from: maybe(NOON + random(60)), to: maybe(NOON + random(60)) }
    const nonce = maybe(oneOf(random, ['', 'n']))
    const order = maybe(oneOf(random, ['latest', 'earliest'] as const))
    const fires = { ...about, ...stretch, outcome, nonce, order }
    const [run] = allRuns(data).filter(() => random(4) === 0)
    const named = { instance: maybe(oneOf(random, INSTANCES)), token: maybe(run?.token) }
    const runs = { ...fires, ...named, ...(run && maybe(ofFire(run))) }
    const schedules = { job: about.job, prefix: maybe(oneOf(random, SCHEDULES)) }
    const buckets = Array.from({ length: 256 }, () => random(2)).join('')
    const times = { patienceMs: random(40), aheadMs: random(2) * random(40) }
    const due = { jobs: JOBS.map((job) => ({ job, buckets })), ...times, limit: 1 + random(8) }
    for (const store of stores) {
      const limit = 1 + random(5)
      assert.deepEqual(await all((after) => listFires(store, { ...fires, after, limit })), plainFires(data, fires))
      assert.deepEqual(await all((after) => listRuns(store, { ...runs, after, limit })), plainRuns(data, runs))
      assert.deepEqual(
        await all((after) => store.listSchedules({ ...schedules, after, limit })),
        plainSchedules(data, schedules),
      )
      assert.deepEqual(await store.due(due), plainDue(data, now, due))
    }
  }
}

async function all<Item>(
  list: (after: string | null) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
): Promise<Item[]> {
  const items: Item[] = []
  for (let after: string | null = null, pages = 0; pages < 1_000; pages++) {
    const page: { readonly items: readonly Item[]; readonly next: string | null } = await list(after)
    items.push(...page.items)
    if (page.next === null) return items
    after = page.next
  }
  return assert.fail('paging does not end')
}

function compare(one: readonly (string | number)[], other: readonly (string | number)[]): number {
  const at = one.findIndex((part, index) => part !== other[index])
  return at < 0 ? 0 : one[at]! < other[at]! ? -1 : 1
}

function plainFires(data: NamespaceData, query: Omit<ViewQuery, 'after' | 'limit'>): FireRecord[] {
  const { schedule, job, outcome, nonce, from = -Infinity, to = Infinity, order } = query
  const place = (record: FireRecord) => [record.dueAt, record.schedule, record.nonce]
  return allFires(data)
    .filter((record) => schedule === undefined || record.schedule === schedule)
    .filter((record) => job === undefined || record.job === job)
    .filter((record) => outcome === undefined || (record.ending?.outcome ?? 'open') === outcome)
    .filter((record) => nonce === undefined || record.nonce === nonce)
    .filter((record) => record.dueAt < to && (record.range?.untilAt ?? record.dueAt) >= from)
    .sort((one, other) => (order === 'earliest' ? 1 : -1) * compare(place(one), place(other)))
}

function plainRuns(data: NamespaceData, query: Omit<ViewQuery, 'after' | 'limit'>): RunRecord[] {
  const { schedule, job, instance, outcome, nonce, token, from = -Infinity, to = Infinity, order } = query
  const place = (run: RunRecord) => [run.dueAt, run.schedule, run.nonce, Number(run.token)]
  return allRuns(data)
    .filter((run) => schedule === undefined || run.schedule === schedule)
    .filter((run) => job === undefined || run.job === job)
    .filter((run) => instance === undefined || run.instance === instance)
    .filter((run) => outcome === undefined || (run.ending?.outcome ?? 'open') === outcome)
    .filter((run) => nonce === undefined || run.nonce === nonce)
    .filter((run) => token === undefined || run.token === token)
    .filter((run) => run.dueAt >= from && run.dueAt < to)
    .map((run) => ({ ...run, ...(data.notes.get(runKeyText(run.schedule, run.token)) ?? UNTOLD) }))
    .sort((one, other) => (order === 'earliest' ? 1 : -1) * compare(place(one), place(other)))
}

/** Open ones from the states; of the others, the last of their final lines. */
function allFires({ schedules, history }: NamespaceData): FireRecord[] {
  const open = [...schedules.values()].flatMap((state) => state.open.map((fire) => viewOpenFire(state, fire)))
  const found = new Map(open.map((fire) => [JSON.stringify(keyOf(fire)), fire]))
  const lines = [...history.values()].filter(({ isFinal }) => isFinal).sort((one, other) => other.number - one.number)
  for (const line of lines) {
    const key = JSON.stringify(keyOf(line))
    if (!found.has(key)) found.set(key, viewEndedFire(line))
  }
  return [...found.values()]
}

function allRuns({ schedules, history }: NamespaceData): RunRecord[] {
  const open = [...schedules.values()].flatMap((state) =>
    state.open.filter(isRunning).map((fire) => viewOpenRun(state, fire)),
  )
  return [...open, ...[...history.values()].map(viewEndedRun).filter((run) => run !== null)]
}

function plainSchedules(data: NamespaceData, query: Omit<ScheduleQuery, 'after' | 'limit'>): ScheduleState[] {
  const { job, prefix = '' } = query
  return [...data.schedules.values()]
    .filter((state) => job === undefined || state.definition.job === job)
    .filter((state) => state.id.startsWith(prefix))
    .sort((one, other) => compare([one.id], [other.id]))
}

function plainDue(data: NamespaceData, now: number, { jobs, patienceMs, aheadMs = 0, limit }: DueQuery): Due {
  const bucketsOf = new Map(jobs.map(({ job, buckets }) => [job, buckets]))
  const isMine = (state: ScheduleState) => bucketsOf.get(state.definition.job)?.[bucketOf(state.id)] === '1'
  const waiting = [...data.schedules.values()]
    .filter((state) => state.wakeAt !== null && bucketsOf.has(state.definition.job))
    .sort((one, other) => compare([one.wakeAt!, one.id], [other.wakeAt!, other.id]))
  const isDue = (state: ScheduleState) => state.wakeAt! <= (isMine(state) ? now + aheadMs : now - patienceMs)
  const schedules = waiting.filter(isDue).slice(0, limit)
  const rest = waiting.filter((state) => !schedules.includes(state))
  const earliest = (mine: boolean) => rest.find((state) => isMine(state) === mine)?.wakeAt ?? null
  return { now, epoch: 1, schedules, mineAt: earliest(true), othersAt: earliest(false) }
}
