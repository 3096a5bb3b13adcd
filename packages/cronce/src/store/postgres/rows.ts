import { type Ending, ending, OUTCOMES, type Outcome, REASONS, type Reason } from '../../model/outcome.ts'
import type { EndedRun, HistoryRecord, RunNotes } from '../../model/record.ts'
import type { Instant, OpenFire, OpenRun, RunningFire, ScheduleState } from '../../model/schedule.ts'

// Converts between the columns of the tables and the model.

/** The format of clocks that this version writes. A row with a higher one was written by a newer version, and is left alone. */
export const FORMAT = 1

/** Stands for `null` in columns of times: before every valid date. */
export const NONE = Number.MIN_SAFE_INTEGER

/** Stands for the due time of the last plain claim in the column `planned_to`. */
export const AS_DUE = NONE + 1

/** The store's time and epoch. `moved`: the server is not the one that the epoch belongs to. */
export interface StoreMoment {
  readonly now: Instant
  readonly epoch: number
  readonly moved: boolean
}

/** Reason numbers reserved per outcome, in order: the outcome of a reason is a range of numbers. */
export const REASONS_EACH = 16
/** Reason numbers above this mean an outcome other than succeeded. */
export const TROUBLE = REASONS_EACH

const NUMBERS: ReadonlyMap<Reason, number> = new Map(
  OUTCOMES.flatMap((outcome, index) =>
    REASONS[outcome].map((reason, place) => [reason, index * REASONS_EACH + place + 1] as const),
  ),
)
const NAMES: ReadonlyMap<number, Reason> = new Map([...NUMBERS].map(([reason, number]) => [number, reason]))

/** All numbers of an outcome that are in use. */
export function reasonsOf(outcome: Outcome): readonly number[] {
  return REASONS[outcome].map((reason) => NUMBERS.get(reason)!)
}

export function reasonNumber({ reason }: Ending): number {
  return NUMBERS.get(reason)!
}

/** SQL: the name of an outcome or a reason by the number of its reason. */
export function reasonCase(column: string, nameOf: (outcome: Outcome, reason: Reason) => string): string {
  const cases = OUTCOMES.flatMap((outcome) =>
    REASONS[outcome].map((reason) => `when ${NUMBERS.get(reason)} then '${nameOf(outcome, reason)}'`),
  )
  return `case ${column} ${cases.join(' ')} end`
}

export function toColumn(at: Instant | null | undefined): number {
  return at ?? NONE
}

export function fromColumn(at: number): Instant | null {
  return at === NONE ? null : at
}

/** A clock row's data about an open run of the common kind: planned and claimed at once, on time, first attempt. */
export interface PlainRun {
  readonly dueAt: Instant
  readonly token: string
  readonly instance: string
  readonly claim: number
  /** When it was planned and claimed. It starts then, or at its due time if that is later. */
  readonly claimedAt: Instant
}

export function plainFire({ dueAt, token, instance, claim, claimedAt }: PlainRun): OpenFire {
  return {
    dueAt,
    nonce: '',
    kind: 'scheduled',
    round: 1,
    plannedAt: claimedAt,
    readyAt: dueAt,
    ignoresOverlap: false,
    attempt: 1,
    failures: 0,
    crashes: 0,
    run: { token, instance, claim, startedAt: Math.max(claimedAt, dueAt), cancel: null },
    own: null,
  }
}

/** The run of a fire that `plainFire` would create from it. `null`: the fire is not of that kind. */
export function plainRunOf(fire: OpenFire): PlainRun | null {
  if (!isPlainFire(fire)) return null
  const { dueAt, run, plannedAt: claimedAt } = fire
  const { token, instance, claim } = run
  return { dueAt, token, instance, claim, claimedAt }
}

function isPlainFire(fire: OpenFire): fire is RunningFire {
  const { dueAt, run, plannedAt: claimedAt } = fire
  if (run === null || !isPlainRun(run)) return false
  const isOnTime = fire.nonce === '' && run.startedAt === Math.max(claimedAt, dueAt) && fire.readyAt === dueAt
  return isOnTime && isFirstAttempt(fire) && hasNothingOwn(fire)
}

function isPlainRun({ instance, cancel, cause, slots, parkedUntil }: OpenRun): boolean {
  return instance !== '' && cancel === null && cause === undefined && slots === undefined && parkedUntil === undefined
}

function isFirstAttempt({ kind, round, attempt, failures, crashes, ignoresOverlap }: OpenFire): boolean {
  return kind === 'scheduled' && round === 1 && attempt === 1 && failures === 0 && crashes === 0 && !ignoresOverlap
}

/** The fire has only the settings of its schedule, and waits for nothing. */
function hasNothingOwn({ own, giveUp, wait, asked, tenant }: OpenFire): boolean {
  return own === null && giveUp === undefined && wait === undefined && asked === undefined && tenant === undefined
}

/** The highest number that a column of type integer holds. */
export const MOST_FAILED = 2 ** 31 - 1

/** Whether columns hold the whole state: nothing unusual, and at most one open run, which is plain. */
export function isPlain(state: ScheduleState): boolean {
  const { open } = state
  return (
    state.pause === null &&
    state.retiredAt === null &&
    state.retirements === undefined &&
    state.skipped === undefined &&
    state.backfills.length === 0 &&
    state.failedInRow <= MOST_FAILED &&
    (open.length === 0 || (open.length === 1 && isPlainFire(open[0]!)))
  )
}

/** The part of a state that columns do not hold. */
type Uncommon = Pick<ScheduleState, 'pause' | 'retiredAt' | 'retirements' | 'skipped' | 'backfills' | 'open'> &
  Partial<Pick<ScheduleState, 'failedInRow'>>

export function moreOf(state: ScheduleState): string {
  if (isPlain(state)) return ''
  const { pause, retiredAt, retirements, skipped, backfills, open, failedInRow } = state
  const more: Uncommon = {
    pause,
    retiredAt,
    ...(failedInRow > MOST_FAILED ? { failedInRow } : {}),
    ...(retirements === undefined ? {} : { retirements }),
    ...(skipped === undefined ? {} : { skipped }),
    backfills,
    open,
  }
  return JSON.stringify(more)
}

export function uncommonOf(more: string): Uncommon {
  return JSON.parse(more) as Uncommon
}

/** A line of the history in the form that lists return. */
export interface LineRow {
  readonly key: number
  readonly schedule: string
  readonly dueAt: Instant
  readonly number: number
  readonly token: string
  readonly startedAt: Instant
  /** How long before its start it was planned, up to `LONGEST_LEAD`. */
  readonly lead: number
  readonly endedAt: Instant
  readonly expiresAt: Instant
  readonly job: string
  readonly instance: string
  readonly reason: number
  readonly isFinal: boolean
  readonly nonce: string
  readonly tenant: string
  readonly more: string
  readonly notes: RunNotes | null
}

/** Fields that most lines do not have. */
type MoreOfLine = Partial<
  Pick<
    HistoryRecord,
    'kind' | 'round' | 'plannedAt' | 'readyAt' | 'attempt' | 'input' | 'givenNull' | 'asked' | 'range'
  >
> &
  Partial<Pick<NonNullable<HistoryRecord['run']>, 'cause' | 'cancel' | 'error' | 'result'>> & {
    readonly detail?: string
  }

type MutableMore = { -readonly [Name in keyof MoreOfLine]: MoreOfLine[Name] }

/** A line in the form that statements take. */
export function lineRow(line: HistoryRecord): object {
  const { run, range, dueAt } = line
  return {
    due_at: dueAt,
    number: line.number,
    // A range has minus the number of its instants.
    token: run?.token ?? String(range === null ? 0 : -range.count),
    started_at: run?.startedAt ?? range?.untilAt ?? dueAt,
    lead: leadOf(line),
    ended_at: line.endedAt,
    expires_at: line.expiresAt,
    job: line.job,
    instance: run?.instance ?? '',
    reason: reasonNumber(line.ending),
    is_final: line.isFinal,
    nonce: line.nonce,
    tenant: line.tenant ?? '',
    more: moreOfLine(line),
  }
}

export function moreOfLine(line: HistoryRecord): string {
  const { run } = line
  const more: MutableMore = {}
  if (line.kind !== 'scheduled') more.kind = line.kind
  if (line.round !== 1) more.round = line.round
  if (line.plannedAt !== plannedAtOf(line.dueAt, run?.startedAt) - leadOf(line)) more.plannedAt = line.plannedAt
  if (line.readyAt !== line.dueAt) more.readyAt = line.readyAt
  if (line.attempt !== attemptOf(run !== null)) more.attempt = line.attempt
  if (line.input !== null) more.input = line.input
  if (line.givenNull === true) more.givenNull = true
  if (line.asked !== undefined) more.asked = line.asked
  if (line.range !== null) more.range = line.range
  if (line.ending.detail !== null) more.detail = line.ending.detail
  if (run !== null) addMoreOfRun(more, run)
  for (const _ in more) return JSON.stringify(more)
  return ''
}

function addMoreOfRun(more: MutableMore, { cause, cancel, error, result }: EndedRun): void {
  if (cause !== undefined) more.cause = cause
  if (cancel !== null) more.cancel = cancel
  if (error !== null) more.error = error
  if (result !== null) more.result = result
}

/** The highest number that a column of type smallint holds. */
const LONGEST_LEAD = 2 ** 15 - 1

/** How long before its start a fire was planned that was claimed ahead. 0: it was not, or `more` has the time. */
export function leadOf({ plannedAt, dueAt, run }: HistoryRecord): number {
  const leadMs = plannedAtOf(dueAt, run?.startedAt) - plannedAt
  return run !== null && leadMs > 0 && leadMs <= LONGEST_LEAD ? leadMs : 0
}

/** Most fires are planned when their run starts. */
function plannedAtOf(dueAt: Instant, startedAt: Instant | undefined): Instant {
  return startedAt ?? dueAt
}

function attemptOf(hasRun: boolean): number {
  return hasRun ? 1 : 0
}

export function lineOf(row: LineRow): HistoryRecord {
  const more = row.more === '' ? {} : (JSON.parse(row.more) as MoreOfLine)
  const hasRun = row.token !== '0' && !row.token.startsWith('-')
  const { kind = 'scheduled', round = 1, readyAt = row.dueAt, input = null, detail = null, range = null } = more
  return {
    schedule: row.schedule,
    dueAt: row.dueAt,
    nonce: row.nonce,
    number: row.number,
    isFinal: row.isFinal,
    job: row.job,
    tenant: row.tenant === '' ? null : row.tenant,
    kind,
    round,
    plannedAt: more.plannedAt ?? plannedAtOf(row.dueAt, hasRun ? row.startedAt : undefined) - row.lead,
    readyAt,
    attempt: more.attempt ?? attemptOf(hasRun),
    input,
    ...(more.givenNull === undefined ? {} : { givenNull: more.givenNull }),
    ...(more.asked === undefined ? {} : { asked: more.asked }),
    run: hasRun ? runOfLine(row, more) : null,
    ending: ending(NAMES.get(row.reason)!, detail),
    endedAt: row.endedAt,
    expiresAt: row.expiresAt,
    range,
  }
}

function runOfLine({ token, instance, startedAt }: LineRow, more: MoreOfLine): EndedRun {
  const { cause, cancel = null, error = null, result = null } = more
  return { token, instance, startedAt, ...(cause === undefined ? {} : { cause }), cancel, error, result }
}
