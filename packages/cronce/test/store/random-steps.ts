import assert from 'node:assert/strict'
import type { Change } from '../../src/model/change.ts'
import { ending } from '../../src/model/outcome.ts'
import type { HistoryRecord, RunRecord } from '../../src/model/record.ts'
import { isRunning, type ScheduleState } from '../../src/model/schedule.ts'
import { viewEndedRun, viewOpenRun } from '../../src/model/views.ts'
import { listFires, listRuns, ofFire } from '../../src/store/list-views.ts'
import type { Store } from '../../src/store/store.ts'
import {
  app,
  beat,
  cancellation,
  change,
  claim,
  claimAgain,
  creation,
  DAY_MS,
  definition,
  endedLine,
  HOUR_MS,
  keyOf,
  missedRange,
  removal,
  reopening,
  schedule,
  settlement,
  waiting,
  withFires,
} from '../../src/testing/conformance/samples.ts'
import { all, byText, sortHeld, type Twins } from './random-kit.ts'

// Something at random is done to a store and to one in memory, and both are asked the same.

export const SCHEDULES = ['a', 'a b', 'a%000ab', 'b\nc\td', '__proto__', '{x}:1', '\ud83d']
export const INSTANCES = ['i', 'j\n', 'k']
const JOBS = ['mail', 're port\n']
const TENANTS = [null, 'one', 'two\t']
const APPS = ['shop', 'w are\t']
const NONCES = ['', '', 'n', 'm:1', 'o\n']
const SLOTS = [[], ['job:mail'], ['job:mail', 'group:g\t']]

/** A moment ago: Redis keeps what is written soon after it was due in another way. Or hours away. */
function anyTime({ base, now, random }: Twins): number {
  if (random(2) === 0) return now() - random(12_000)
  return base + (random(12) - 6) * HOUR_MS + (random(2) === 0 ? 2 : -2) * HOUR_MS
}

/** Above all numbers so far: which number a store assumes for a pruned name is up to the store. */
let created = 0

/** A change that its state allows, or one that is refused. */
function anyChange(twins: Twins, id: string): Change {
  const { data, random, one, base, stores } = twins
  const state = data.schedules.get(id)
  const wakeAt = random(4) === 0 ? null : base + (random(2) === 0 ? -1 : 2) * DAY_MS + random(5)
  const defined = definition({ job: one(JOBS), tenant: one(TENANTS) })
  const source: ScheduleState['source'] =
    random(2) === 0 ? { kind: 'client' } : { kind: 'code', app: one(APPS), number: random(3) }
  if (state === undefined) {
    created += 1_000
    return creation(schedule(id, { wakeAt, source, definition: defined, ended: created }))
  }
  const { epoch } = stores[0].info
  const dueAt = anyTime(twins)
  const nonce = one(NONCES)
  const lines = [...data.history.values()].filter((line) => line.schedule === id)
  const isOpen = (line: HistoryRecord): boolean =>
    state.open.some((open) => open.dueAt === line.dueAt && open.nonce === line.nonce)
  const ended = lines.filter((line) => line.isFinal && !isOpen(line))
  const runs = state.open.filter(isRunning).map((open) => viewOpenRun(state, open))
  const idle = state.open.filter((open) => open.run === null)
  const number = state.ended + 1
  const expiresAt = base + (random(2) === 0 ? -1 : 1) * DAY_MS + random(HOUR_MS)
  const over = { number, expiresAt, endedAt: anyTime(twins), tenant: one(TENANTS) }
  switch (random(14)) {
    case 0:
      return change(state, { wakeAt, source, revision: state.revision + 1, definition: defined })
    case 1:
      return random(2) === 0 ? removal(state) : change(state, { wakeAt }, { notBefore: base + 2 * DAY_MS })
    case 2:
      return withFires(change(state), [endedLine(id, dueAt, { ...over, nonce })])
    case 3:
      return withFires(change(state), [{ ...missedRange(id, dueAt, 1 + random(5), number), expiresAt }])
    case 4: {
      if (ended.length === 0) return change(state, { wakeAt })
      const line = one(ended)
      if (line.range === null) return reopening(state, line)
      const open = [...state.open, waiting(line.dueAt, { round: 2 })]
      return change(state, { open }, { rewrites: [{ ...line, range: null, isFinal: false }] })
    }
    case 5: {
      const ranges = ended.filter(({ range }) => range !== null && range.count > 1)
      return ranges.length === 0 ? change(state, { wakeAt: null }) : split(state, one(ranges))
    }
    case 6:
      return change(state, {}, { trim: { belowNumber: random(number + 1), endedBefore: anyTime(twins) } })
    case 7:
    case 8: {
      if (runs.length === 0) return change(state, { source })
      const fireEnds = one([undefined, null, ending('crash-budget')])
      const result = random(3) === 0 ? 'long '.repeat(300) : null
      const how = { how: ending(one(['completed', 'error'])), result, expiresAt, endedAt: anyTime(twins) }
      return settlement(state, one(runs), { ...how, ...(fireEnds === undefined ? {} : { fireEnds }) })
    }
    case 9:
      return runs.length > 0 ? cancellation(state, one(runs)) : change(state, { wakeAt })
    case 10: {
      const rewrites = lines.filter(({ run }) => run !== null).slice(0, 2)
      return change(
        state,
        {},
        { rewrites: rewrites.map((line) => ({ ...line, job: one(JOBS), ending: ending('timeout') })) },
      )
    }
    case 11: {
      if (idle.length === 0) return change(state, { wakeAt })
      const fire = one(idle)
      const line = endedLine(id, fire.dueAt, { ...over, nonce: fire.nonce, round: fire.round, attempt: fire.attempt })
      const open = state.open.filter((other) => other !== fire)
      return change(state, { ended: number, open }, { history: [line], reopens: random(2) === 0 ? [keyOf(line)] : [] })
    }
    default: {
      const chosen = {
        instance: one(INSTANCES),
        slots: one(SLOTS),
        limit: 1 + random(4),
        epoch,
        startedAt: anyTime(twins),
      }
      const claimed =
        random(2) === 0 && idle.length > 0
          ? claimAgain(state, { ...chosen, ...one(idle) })
          : claim(state, { ...chosen, dueAt, nonce })
      return { ...claimed, state: { ...claimed.state!, wakeAt } }
    }
  }
}

/** One instant is taken out of a range: what was before it and what comes after it stay. */
function split(state: ScheduleState, line: HistoryRecord): Change {
  const rest = {
    ...missedRange(state.id, line.dueAt + HOUR_MS, line.range!.count - 1, state.ended + 1),
    expiresAt: line.expiresAt,
  }
  const open = [...state.open, waiting(line.dueAt, { kind: 'backfill', round: 2 })]
  return withFires(change(state, { open }, { rewrites: [{ ...line, range: null, isFinal: false }] }), [rest])
}

/** All that the store lists, open or ended. */
function allRuns({ data }: Twins): RunRecord[] {
  const open = [...data.schedules.values()].flatMap((state) =>
    state.open.filter(isRunning).map((fire) => viewOpenRun(state, fire)),
  )
  return [...open, ...[...data.history.values()].map(viewEndedRun).filter((run) => run !== null)]
}

export async function anyStep(twins: Twins): Promise<void> {
  const { random, one, data, ask, seen } = twins
  const instance = one(INSTANCES)
  const runs = allRuns(twins)
  const run = runs.length === 0 ? undefined : one(runs)
  switch (random(14)) {
    case 0: {
      const over = { join: true, leaseMs: one(twins.leases), running: random(3) }
      const given = beat(instance, { ...over, state: one(['live', 'live', 'live', 'draining']) })
      await ask('beat', async (store) => sortHeld(await store.beat(given)))
      return
    }
    case 1: {
      if (random(4) > 0) return
      const hint = random(2) === 0
      const bury = async (store: Store): Promise<boolean> => {
        const known = (await store.listInstances()).instances.find(({ id }) => id === instance)
        return store.mark({ kind: 'dead', instance, renewals: known?.renewals ?? 0, hint })
      }
      if (random(3) > 0) await ask('bury', bury)
      else await ask('leave', (store) => store.beat(beat(instance, { state: 'left' })).then(sortHeld))
      return
    }
    case 2:
    case 3: {
      if (run === undefined) return
      const about = { fire: keyOf(run), step: one(['s', 't\n', '%']), token: run.token }
      const rerun = random(2) === 0
      const failed = random(3) === 0
      const kind = random(5)
      if (kind < 3) await ask('begin', (store) => store.step({ kind: 'begin', ...about, rerun }))
      else if (kind === 3)
        await ask('end', (store) => store.step({ kind: 'end', ...about, failed, result: { a: '\n' } }))
      else await ask('resolve', (store) => store.step({ kind: 'resolve', ...about, failed, result: null }))
      const note = { schedule: run.schedule, token: run.token, progress: null, log: [], logCut: failed }
      await ask('annotate', (store) => store.annotate([note]))
      return
    }
    case 4: {
      const limit = 1 + random(3)
      // Which of them go first is the store's affair.
      await ask('prune', async (store) => {
        let deleted = 0
        for (;;) {
          const { deleted: more } = await store.prune(limit)
          if (more === 0) return deleted
          assert.ok(more <= limit)
          deleted += more
        }
      })
      return
    }
    case 5: {
      const gone = SCHEDULES.filter((id) => !data.schedules.has(id))
      if (gone.length === 0) return
      const id = one(gone)
      const limit = 1 + random(3)
      await ask('erase', async (store) => {
        for (let calls = 0; (await store.prune(limit, id)).deleted > 0; calls++) assert.ok(calls < 200)
      })
      return
    }
    case 6: {
      const version = (data.apps.get('shop')?.version ?? 0) + random(2)
      await ask('save', (store) => store.saveApp(app('shop', { version })))
      await ask('drain', (store) => store.mark({ kind: 'drain', instance: instance, drain: version % 2 === 0 }))
      return
    }
    default: {
      const changes = Array.from({ length: 1 + random(3) }, () => anyChange(twins, one(SCHEDULES)))
      const claimant = random(3) === 0 ? { instance, leaseMs: HOUR_MS } : undefined
      const { results } = await ask('apply', (store) => store.apply(changes, { claimant }))
      for (const { kind } of results) seen.add(kind)
    }
  }
}

export async function compareLists(twins: Twins): Promise<void> {
  const { random, one, ask, base } = twins
  const runs = allRuns(twins)
  const maybe = <Value>(value: Value): Value | undefined => (random(3) === 0 ? value : undefined)
  for (let query = 0; query < 3; query++) {
    const about = { schedule: maybe(one(SCHEDULES)), job: maybe(one(JOBS)) }
    const outcome = maybe(one(['open', 'succeeded', 'missed'] as const))
    const stretch = { from: maybe(anyTime(twins)), to: maybe(anyTime(twins)) }
    const named = { nonce: maybe(one(NONCES)), tenant: maybe(one(['one', 'two\t'])), order: maybe('earliest' as const) }
    const fires = { ...about, ...stretch, ...named, outcome }
    const run: RunRecord | undefined = runs[random(runs.length + 1)]
    const few = { token: maybe(run?.token), instance: maybe(one(INSTANCES)), ...(run && maybe(ofFire(run))) }
    const schedules = {
      app: maybe(one(APPS)),
      job: about.job,
      tenant: maybe(one(['one', 'two\t'])),
      prefix: maybe(one(['a', 'a%', 'b\n', '_'])),
    }
    await ask('latest', async (store) => byText((await store.listLatest({ schedules: SCHEDULES, limit: 100 })).fires))
    await ask('counts', (store) => store.countFires({ from: stretch.from ?? 0, to: stretch.to ?? base + DAY_MS }))
    const limit = 1 + random(5)
    const sign = fires.order === undefined ? -1 : 1
    await ask('fires', (store) =>
      all(
        (after) => listFires(store, { ...fires, after, limit }),
        ({ dueAt }) => sign * dueAt,
      ),
    )
    await ask('runs', (store) =>
      all(
        (after) => listRuns(store, { ...fires, ...few, after, limit }),
        ({ dueAt }) => sign * dueAt,
      ),
    )
    await ask('schedules', (store) =>
      all(
        (after) => store.listSchedules({ ...schedules, after, limit }),
        () => 0,
      ),
    )
    if (run !== undefined) await ask('steps', async (store) => byText(await store.listSteps(keyOf(run))))
    const buckets = Array.from({ length: 256 }, () => random(2)).join('')
    const times = { patienceMs: random(2) * 3 * DAY_MS, aheadMs: random(3) * DAY_MS }
    const due = { jobs: JOBS.map((job) => ({ job, buckets })), ...times, limit: 100 }
    await ask('due', async (store) => {
      const { schedules, mineAt, othersAt } = await store.due(due)
      return [byText(schedules), `${mineAt} ${othersAt}`]
    })
  }
  await ask('instances', (store) => store.listInstances())
  await ask('loaded', async (store) => byText((await store.load(SCHEDULES)).schedules))
  await ask('app', (store) => store.loadApp('shop'))
}

export async function eraseAll(twins: Twins): Promise<void> {
  const { data, ask, stores } = twins
  for (const state of [...data.schedules.values()]) await ask('remove', (store) => store.apply([removal(state)]))
  for (const id of SCHEDULES) {
    for (const store of stores)
      for (let calls = 0; (await store.prune(7, id)).deleted > 0; calls++) assert.ok(calls < 200)
  }
}
