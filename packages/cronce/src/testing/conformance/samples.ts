import type { AppRecord } from '../../model/app.ts'
import type { Change } from '../../model/change.ts'
import { type Ending, ending } from '../../model/outcome.ts'
import type { EndedRun, FireKey, FireRecord, HistoryRecord, RunRecord } from '../../model/record.ts'
import {
  type CancelRequest,
  type Definition,
  type Instant,
  isRunning,
  NOBODY,
  type OpenFire,
  type OpenRun,
  type ScheduleState,
} from '../../model/schedule.ts'
import { makeToken } from '../../model/token.ts'
import { viewEndedFire, viewEndedRun } from '../../model/views.ts'
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
  reopens: [],
  history: [],
  rewrites: [],
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

/** As an open fire is listed. */
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

/** An open fire that waits, as it is in the state of its schedule. `fire` is how the store lists it. */
export function waiting(dueAt: Instant, over: Partial<OpenFire> = {}): OpenFire {
  return {
    dueAt,
    nonce: '',
    kind: 'scheduled',
    round: 1,
    plannedAt: dueAt,
    readyAt: dueAt,
    ignoresOverlap: false,
    attempt: 0,
    failures: 0,
    crashes: 0,
    run: null,
    own: null,
    ...over,
  }
}

/** The line with which a fire ended that had no run. The store keeps it until `expiresAt`. */
export function endedLine(
  schedule: string,
  dueAt: Instant,
  { number, expiresAt, ...over }: Partial<HistoryRecord> & Pick<HistoryRecord, 'number' | 'expiresAt'>,
): HistoryRecord {
  return {
    schedule,
    dueAt,
    nonce: '',
    number,
    isFinal: true,
    job: JOB,
    tenant: null,
    kind: 'scheduled',
    round: 1,
    plannedAt: dueAt,
    readyAt: dueAt,
    attempt: 0,
    input: null,
    run: null,
    ending: ending('completed'),
    endedAt: dueAt + 1,
    expiresAt,
    range: null,
    ...over,
  }
}

/** `count` hourly instants from `dueAt` on that were missed. */
export function missedRange(schedule: string, dueAt: Instant, count: number, number = 1): HistoryRecord {
  const untilAt = dueAt + (count - 1) * HOUR_MS
  const trigger = { kind: 'every', everyMs: HOUR_MS, anchor: 0 } as const
  const range = { untilAt, count, trigger }
  return endedLine(schedule, dueAt, { ending: ending('superseded'), number, expiresAt: untilAt + DAY_MS, range })
}

export function keyOf({ schedule, dueAt, nonce }: FireKey): FireKey {
  return { schedule, dueAt, nonce }
}

/** The change also creates these fires: open ones are added to the state, ended ones to the history. */
export function withFires(given: Change, fires: readonly (OpenFire | HistoryRecord)[]): Change {
  const open = fires.filter((one): one is OpenFire => !isLine(one))
  const lines = fires.filter(isLine)
  const ended = Math.max(given.state?.ended ?? 0, ...lines.map(({ number }) => number))
  return {
    ...given,
    state: given.state && { ...given.state, ended, open: [...given.state.open, ...open] },
    creates: [...given.creates, ...fires.map((one) => keyOf({ ...one, schedule: given.id }))],
    history: [...given.history, ...lines],
  }
}

function isLine(one: OpenFire | HistoryRecord): one is HistoryRecord {
  return 'ending' in one
}

export interface Claim {
  readonly instance: string
  readonly dueAt?: Instant
  readonly nonce?: string
  readonly claim?: number
  readonly plannedAt?: Instant
  readonly startedAt?: Instant
  readonly cause?: OpenRun['cause']
  readonly slots?: readonly string[]
  /** Of each of `slots`. */
  readonly limit?: number
  readonly epoch?: number
}

/** Plan a fire and start its run, in one change. */
export function claim(before: ScheduleState, chosen: Claim): Change {
  const { instance, dueAt = NOON, plannedAt = dueAt, nonce = '' } = chosen
  const kind = nonce === '' ? 'scheduled' : 'manual'
  const { run, tokens } = startRun(before, { ...chosen, startedAt: chosen.startedAt ?? dueAt + 5, instance })
  const planned = withFires(change(before, { tokens, wakeAt: null }), [
    waiting(dueAt, { nonce, kind, plannedAt, attempt: 1, run }),
  ])
  return { ...planned, limits: limitsOf(chosen) }
}

/** Start another run of a fire that is open and has none. */
export function claimAgain(before: ScheduleState, chosen: Claim): Change {
  const { dueAt = NOON, nonce = '' } = chosen
  const { run, tokens } = startRun(before, { ...chosen, startedAt: chosen.startedAt ?? dueAt + 50 })
  const isWanted = (open: OpenFire): boolean => open.dueAt === dueAt && open.nonce === nonce
  const [fire] = before.open.filter(isWanted)
  if (fire === undefined) throw new Error(`${before.id} has no open fire due ${dueAt}`)
  const started = { ...fire, attempt: fire.attempt + 1, run }
  // The fire that was claimed comes last: see `runOf`.
  const open = [...before.open.filter((one) => !isWanted(one)), started]
  return change(before, { tokens, wakeAt: null, open }, { limits: limitsOf(chosen) })
}

function startRun(before: ScheduleState, chosen: Claim & { readonly startedAt: Instant }) {
  const { instance, claim: number = 1, startedAt, cause, slots = [], epoch = 1 } = chosen
  const tokens = before.tokens + 1
  const run: OpenRun = {
    ...{ token: makeToken(epoch, tokens), instance, claim: number, startedAt, cancel: null },
    ...(cause === undefined ? {} : { cause }),
    ...(slots.length === 0 ? {} : { slots }),
  }
  return { run, tokens }
}

function limitsOf({ slots = [], limit = 1 }: Claim): Change['limits'] {
  return slots.map((slot) => ({ slot, limit }))
}

/** The one run that a claim starts, as it is listed. */
export function runOf(claimed: Change): RunRecord {
  const { open, definition } = after(claimed)
  const fire = open.at(-1)
  if (fire === undefined || !isRunning(fire)) throw new Error(`This change of ${claimed.id} starts no run`)
  const { token, instance, startedAt, cause, cancel } = fire.run
  return {
    ...keyOf({ ...fire, schedule: claimed.id }),
    token,
    job: definition.job,
    round: fire.round,
    attempt: fire.attempt,
    instance,
    startedAt,
    readyAt: fire.readyAt,
    ...(cause === undefined ? {} : { cause }),
    cancel,
    number: null,
    ending: null,
    endedAt: null,
    error: null,
    result: null,
  }
}

export interface Settled extends Partial<Pick<EndedRun, 'error' | 'result'>> {
  readonly how?: Ending
  readonly endedAt?: Instant
  readonly expiresAt?: Instant
  /** How the fire ends, if not as its run. `null`: it does not end, but waits for another run. */
  readonly fireEnds?: Ending | null
}

/** End that run, and its fire with it unless `fireEnds` says otherwise. */
export function settlement(before: ScheduleState, run: RunRecord, settled: Settled = {}): Change {
  const { fireEnds } = settled
  const line = lineOfRun(before, run, settled)
  const own = { ...line, number: line.number + 1, isFinal: true, run: null }
  const history = fireEnds ? [line, { ...own, ending: fireEnds }] : [line]
  const open = before.open.flatMap((fire) => {
    if (fire.run?.token !== run.token) return [fire]
    return fireEnds === null ? [{ ...fire, run: null }] : []
  })
  return change(before, { ended: before.ended + history.length, open }, { history })
}

function lineOfRun(before: ScheduleState, run: RunRecord, settled: Settled): HistoryRecord {
  const { how = ending('completed'), endedAt = run.startedAt + 5, error = null, result = null } = settled
  const { token, instance, startedAt, cause, cancel, nonce, job, round, attempt, readyAt } = run
  return endedLine(run.schedule, run.dueAt, {
    ...{ nonce, job, round, attempt, readyAt },
    number: before.ended + 1,
    isFinal: settled.fireEnds === undefined,
    tenant: before.definition.tenant,
    kind: nonce === '' ? 'scheduled' : 'manual',
    run: { token, instance, startedAt, ...(cause === undefined ? {} : { cause }), cancel, error, result },
    ending: how,
    endedAt,
    expiresAt: settled.expiresAt ?? endedAt + 30 * DAY_MS,
  })
}

/** Fires that end with this change, as they are listed. */
export function firesOfEnds({ history }: Change): FireRecord[] {
  return history.filter(({ isFinal }) => isFinal).map(viewEndedFire)
}

/** Runs that end with this change, as they are listed. */
export function runsOfEnds({ history }: Change): RunRecord[] {
  return history.map(viewEndedRun).filter((run) => run !== null)
}

/** Open another round of a fire that has ended with this line. */
export function reopening(before: ScheduleState, line: HistoryRecord, over: Partial<OpenFire> = {}): Change {
  const { dueAt, nonce, kind, attempt, round } = line
  const again = waiting(dueAt, { nonce, kind, attempt, round: round + 1, ...over })
  return change(before, { open: [...before.open, again] }, { reopens: [keyOf(line)] })
}

/** Ask that run to end. */
export function cancellation(before: ScheduleState, run: RunRecord): Change {
  return change(before, { open: withRun(before, run, { cancel: cancelOf(run) }) })
}

export function cancelOf(run: RunRecord): CancelRequest {
  return {
    at: run.startedAt + 1,
    reason: 'cancelled-by-operator',
    detail: 'not today',
    revokeAt: run.startedAt + HOUR_MS,
  }
}

/** From now on that run has no instance, and stays open until a call-back ends it. */
export function parking(before: ScheduleState, run: RunRecord): Change {
  return change(before, { open: withRun(before, run, { instance: NOBODY, parkedUntil: run.startedAt + HOUR_MS }) })
}

function withRun(before: ScheduleState, { token }: RunRecord, over: Partial<OpenRun>): readonly OpenFire[] {
  return before.open.map((fire) => (fire.run?.token === token ? { ...fire, run: { ...fire.run, ...over } } : fire))
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
