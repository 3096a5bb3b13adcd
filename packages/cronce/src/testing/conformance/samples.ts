import type { AppRecord } from '../../model/app.ts'
import type { Change } from '../../model/change.ts'
import { type Ending, ending } from '../../model/outcome.ts'
import type { FireKey, FireRecord, RunRecord } from '../../model/record.ts'
import {
  type CancelRequest,
  type Definition,
  type Instant,
  NOBODY,
  type OpenFire,
  type ScheduleState,
} from '../../model/schedule.ts'
import { makeToken } from '../../model/token.ts'
import type { Beat } from '../../store/store.ts'

/** Valid data that no policy made: a store must keep what it is given, whatever decided it. */

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
/** A due instant like any other. */
export const NOON: Instant = Date.UTC(2026, 0, 1, 12)
/** Long enough to outlast any test. */
export const LEASE_MS = HOUR_MS

export const JOB = 'report'

const DEFINITION: Definition = {
  job: JOB,
  trigger: { kind: 'every', everyMs: HOUR_MS, anchor: 0 },
  input: { to: 'everyone' },
  policy: {},
  start: null,
  end: null,
  limit: null,
  tenant: null,
}

export function definition(over: Partial<Definition> = {}): Definition {
  return { ...DEFINITION, ...over }
}

/** As it is after its creation. */
export function schedule(id: string, over: Partial<ScheduleState> = {}): ScheduleState {
  return {
    id,
    version: 1,
    definition: DEFINITION,
    revision: 1,
    source: { kind: 'client' },
    createdAt: NOON,
    updatedAt: NOON,
    pause: null,
    retiredAt: null,
    nextAt: NOON,
    zoneData: null,
    wakeAt: NOON,
    tokens: 0,
    fired: 0,
    ended: 0,
    trimmedBefore: null,
    failedInRow: 0,
    last: { dueAt: null, succeededDueAt: null, succeededAt: null },
    open: [],
    backfills: [],
    ...over,
  }
}

/** Stores begin with an epoch of their choice. */
let decidedIn = 1

/** What changes are decided in from now on, unless they say otherwise. */
export function decideIn(epoch: number): void {
  decidedIn = epoch
}

const NOTHING_MORE = {
  notBefore: null,
  creates: [],
  updates: [],
  runs: [],
  limits: [],
  trim: null,
} as const satisfies Partial<Change>

export function creation(state: ScheduleState, more: Partial<Change> = {}): Change {
  return { ...NOTHING_MORE, epoch: decidedIn, id: state.id, version: 0, state, ...more }
}

export function change(before: ScheduleState, over: Partial<ScheduleState> = {}, more: Partial<Change> = {}): Change {
  const state = { ...before, ...over, version: before.version + 1 }
  return { ...NOTHING_MORE, epoch: decidedIn, id: before.id, version: before.version, state, ...more }
}

export function removal(before: ScheduleState, more: Partial<Change> = {}): Change {
  return { ...NOTHING_MORE, epoch: decidedIn, id: before.id, version: before.version, state: null, ...more }
}

/** What the schedule is once the change is applied. */
export function after(applied: Change): ScheduleState {
  if (applied.state === null) throw new Error(`${applied.id} is removed by this change`)
  return applied.state
}

/** On record as open. */
export function fire(schedule: string, dueAt: Instant, over: Partial<FireRecord> = {}): FireRecord {
  return {
    schedule,
    dueAt,
    nonce: '',
    job: JOB,
    tenant: null,
    kind: 'scheduled',
    round: 1,
    plannedAt: dueAt,
    readyAt: dueAt,
    attempt: 0,
    input: null,
    ending: null,
    endedAt: null,
    number: null,
    expiresAt: null,
    range: null,
    ...over,
  }
}

/** On record as ended, the number `number` of its schedule, to be kept until `expiresAt`. */
export function endedFire(
  schedule: string,
  dueAt: Instant,
  { number, expiresAt, ...over }: Partial<FireRecord> & { readonly number: number; readonly expiresAt: Instant },
): FireRecord {
  return fire(schedule, dueAt, { ending: ending('completed'), endedAt: dueAt + 1, number, expiresAt, ...over })
}

/** `count` hourly instants from `dueAt` on that nobody ran. */
export function missedRange(schedule: string, dueAt: Instant, count: number, number = 1): FireRecord {
  const untilAt = dueAt + (count - 1) * HOUR_MS
  const trigger = { kind: 'every', everyMs: HOUR_MS, anchor: 0 } as const
  const range = { untilAt, count, trigger }
  return endedFire(schedule, dueAt, { ending: ending('superseded'), number, expiresAt: untilAt + DAY_MS, range })
}

export function keyOf({ schedule, dueAt, nonce }: FireKey): FireKey {
  return { schedule, dueAt, nonce }
}

export interface Claim {
  readonly instance: string
  readonly dueAt?: Instant
  readonly nonce?: string
  readonly request?: string
  readonly startedAt?: Instant
  readonly slots?: readonly string[]
  /** Of each of `slots`. */
  readonly limit?: number
  readonly epoch?: number
}

/** Plan a fire and begin its run, in one change. */
export function claim(before: ScheduleState, chosen: Claim): Change {
  const { instance, dueAt = NOON, nonce = '', request = `request of ${instance}`, startedAt = dueAt + 5 } = chosen
  const { slots = [], limit = 1, epoch = 1 } = chosen
  const tokens = before.tokens + 1
  const token = makeToken(epoch, tokens)
  const kind = nonce === '' ? 'scheduled' : 'manual'
  const open: OpenFire = {
    dueAt,
    nonce,
    kind,
    round: 1,
    plannedAt: dueAt,
    readyAt: dueAt,
    ignoresOverlap: false,
    attempt: 1,
    failures: 0,
    crashes: 0,
    run: { token, instance, request, startedAt, cancel: null },
    own: null,
  }
  const { job } = before.definition
  const run: RunRecord = {
    schedule: before.id,
    dueAt,
    nonce,
    token,
    job,
    round: 1,
    attempt: 1,
    instance,
    request,
    startedAt,
    readyAt: dueAt,
    slots,
    cancel: null,
    ending: null,
    endedAt: null,
    error: null,
    result: null,
  }
  return change(
    before,
    { tokens, wakeAt: null, open: [...before.open, open] },
    {
      creates: [fire(before.id, dueAt, { nonce, kind, job, attempt: 1 })],
      runs: [run],
      limits: slots.map((slot) => ({ slot, limit })),
    },
  )
}

/** The one run that a claim begins. */
export function runOf(claim: Change): RunRecord {
  return claim.runs[0]!
}

/** End that run, and its fire with it. */
export function settlement(
  before: ScheduleState,
  run: RunRecord,
  { how = ending('completed'), endedAt = run.startedAt + 5 }: { how?: Ending; endedAt?: Instant } = {},
): Change {
  const number = before.ended + 1
  const { job, dueAt, nonce } = run
  const kind = nonce === '' ? 'scheduled' : 'manual'
  const expiresAt = endedAt + 30 * DAY_MS
  const ended = fire(run.schedule, dueAt, { nonce, kind, job, attempt: 1, ending: how, endedAt, number, expiresAt })
  return change(
    before,
    { ended: number, open: before.open.filter((open) => open.run?.token !== run.token) },
    { updates: [ended], runs: [{ ...run, ending: how, endedAt }] },
  )
}

/** Ask that run to end. */
export function cancellation(before: ScheduleState, run: RunRecord): Change {
  const cancel: CancelRequest = {
    at: run.startedAt + 1,
    reason: 'cancelled-by-operator',
    detail: 'not today',
    revokeAt: run.startedAt + HOUR_MS,
  }
  const open = before.open.map((fire) =>
    fire.run?.token === run.token ? { ...fire, run: { ...fire.run, cancel } } : fire,
  )
  return change(before, { open }, { runs: [{ ...run, cancel }] })
}

/** That run is nobody's from now on, and stays open until somebody calls back. */
export function parking(before: ScheduleState, run: RunRecord): Change {
  const parkedUntil = run.startedAt + HOUR_MS
  const open = before.open.map((fire) =>
    fire.run?.token === run.token ? { ...fire, run: { ...fire.run, instance: NOBODY, parkedUntil } } : fire,
  )
  return change(before, { open }, { runs: [{ ...run, instance: NOBODY }] })
}

export function beat(
  id: string,
  over: Partial<Beat['instance']> & Partial<Pick<Beat, 'join' | 'wake' | 'leaseMs' | 'sequence'>> = {},
): Beat {
  const { join = false, wake, leaseMs = LEASE_MS, sequence, ...described } = over
  const instance: Beat['instance'] = {
    id,
    app: 'shop',
    deployment: 'green',
    jobs: [JOB],
    host: 'host',
    pid: 42,
    version: '0.1.0',
    zoneData: '2025b',
    state: 'live',
    clockOffsetMs: 0,
    running: 0,
    concurrency: 10,
    ...described,
  }
  return { instance, join, wake, leaseMs, sequence }
}

export function app(name: string, over: Partial<AppRecord> = {}): AppRecord {
  const none = { active: null, activated: null, tidiedFor: null, deployments: [], retired: [], refused: [] }
  return { name, version: 1, ...none, ...over }
}
