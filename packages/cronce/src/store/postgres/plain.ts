import type { Change } from '../../model/change.ts'
import type { EndedRun, HistoryRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import {
  AS_DUE,
  isPlain,
  leadOf,
  moreOfLine,
  NONE,
  type PlainRun,
  plainRunOf,
  reasonNumber,
  type StoreMoment,
  toColumn,
} from './rows.ts'
import type { Definitions, KnownSchedule } from './schedules.ts'

// Changes that statements on typed columns can write. Everything unusual takes the general statement.

/** A claim of one fire by a schedule that has nothing open: what the columns become. */
export interface PlainClaim {
  readonly change: Change
  readonly key: number
  readonly state: ScheduleState
  readonly run: PlainRun
}

type EndOfRun = HistoryRecord & { readonly run: EndedRun }

/** The end of the one open run of a schedule, and of its fire. */
export interface PlainSettlement {
  readonly change: Change
  readonly key: number
  readonly state: ScheduleState
  readonly line: EndOfRun
  readonly instance: string
}

/** The answer of the statements. `keys`: those that were written, unless all or none were. */
export interface PlainAnswer extends StoreMoment {
  readonly live?: boolean
  readonly renewed?: boolean
  readonly id?: number | null
  readonly keys: readonly number[] | null
  readonly none: boolean
  /** Claims that the statement should delete, but that have not ended. `null`: it had none to delete, or did not get that far. */
  readonly kept?: readonly number[] | null
}

/** `null`: it takes the general statement. */
export function plainClaim(change: Change, definitions: Definitions): PlainClaim | null {
  const { state, creates } = change
  const known = knownBefore(change, definitions)
  if (state === null || known === null || state.open.length !== 1 || known.latest.open.length !== 0) return null
  const run = plainRunOf(state.open[0]!)
  if (run === null || creates.length !== 1 || creates[0]!.nonce !== '' || creates[0]!.dueAt !== run.dueAt) return null
  const isPlainStart = change.history.length === 0 && isNextRun(state, known.latest)
  return isPlainStart ? { change, key: known.key, state, run } : null
}

/** Whether the state has one more run, and nothing else that the statement does not write. */
function isNextRun(state: ScheduleState, latest: ScheduleState): boolean {
  return (
    state.ended === latest.ended &&
    state.failedInRow === latest.failedInRow &&
    state.last === latest.last &&
    state.tokens === latest.tokens + 1
  )
}

/** `null`: it takes the general statement. */
export function plainSettlement(change: Change, definitions: Definitions): PlainSettlement | null {
  const { state, history } = change
  const known = knownBefore(change, definitions)
  if (state === null || known === null || state.open.length !== 0 || known.latest.open.length !== 1) return null
  const { latest } = known
  const run = plainRunOf(latest.open[0]!)
  const [line] = history
  if (run === null || line === undefined || history.length !== 1 || change.creates.length !== 0) return null
  const isPlainEnd = isSamePlan(state, latest) && isEndOf(run, line) && isNextLine(line, state, latest)
  return isPlainEnd ? { change, key: known.key, state, line, instance: run.instance } : null
}

/** Whether the schedule continues as planned before. */
function isSamePlan(state: ScheduleState, latest: ScheduleState): boolean {
  return (
    state.wakeAt === latest.wakeAt &&
    state.nextAt === latest.nextAt &&
    state.plannedTo === latest.plannedTo &&
    state.tokens === latest.tokens &&
    state.fired === latest.fired
  )
}

/** Whether the line tells how the run and its fire ended. Its start may differ: it may have been claimed ahead. */
function isEndOf(run: PlainRun, line: HistoryRecord): line is EndOfRun {
  return (
    line.run?.token === run.token &&
    line.run.instance === run.instance &&
    line.dueAt === run.dueAt &&
    line.nonce === '' &&
    line.isFinal
  )
}

function isNextLine(
  { job, number }: HistoryRecord,
  { definition, ended }: ScheduleState,
  latest: ScheduleState,
): boolean {
  return job === definition.job && number === ended && ended === latest.ended + 1
}

/** The schedule that the change was decided on, if columns hold all of it before and after, and only those change. */
function knownBefore(change: Change, definitions: Definitions): KnownSchedule | null {
  const { state, version } = change
  if (state === null || version === 0) return null
  // A schedule without a next instant may be finished, which lists must show.
  if (hasMore(change) || state.nextAt === null || !isPlain(state)) return null
  const known = definitions.known(state)
  if (known === undefined || known.latest.version !== version || known.latest.nextAt === null) return null
  const { latest } = known
  const isSame = state.zoneData === latest.zoneData && state.trimmedBefore === latest.trimmedBefore
  return isSame && isPlain(latest) ? known : null
}

function hasMore({ reopens, rewrites, limits, trim, activity }: Change): boolean {
  const isLonger = reopens.length > 0 || rewrites.length > 0 || limits.length > 0
  return isLonger || trim !== null || activity !== undefined
}

/** The values of the statement, after the namespace and the header. */
export function claimValues(claims: readonly PlainClaim[]): string[] {
  const numbers = (of: (claim: PlainClaim) => number | string): string => column(claims.map(of))
  return [
    `{${claims.map(({ key }) => key).join()}}`,
    numbers(({ change }) => change.version),
    numbers(({ change }) => change.notBefore ?? NONE),
    numbers(({ state }) => toColumn(state.wakeAt)),
    numbers(({ state }) => toColumn(state.nextAt)),
    numbers(({ state, run }) => (state.plannedTo === run.dueAt ? AS_DUE : toColumn(state.plannedTo))),
    numbers(({ state }) => state.tokens - state.fired),
    numbers(({ run }) => run.dueAt),
    numbers(({ run }) => run.token),
    numbers(({ run }) => run.claimedAt),
  ]
}

export function settlementValues(settlements: readonly PlainSettlement[]): string[] {
  const numbers = (of: (settled: PlainSettlement) => number): string => column(settlements.map(of))
  const texts = (of: (settled: PlainSettlement) => string): string => textArray(settlements.map(of))
  return [
    `{${settlements.map(({ key }) => key).join()}}`,
    numbers(({ change }) => change.version),
    numbers(({ change }) => change.notBefore ?? NONE),
    numbers(({ state }) => state.failedInRow),
    numbers(({ state }) => toColumn(state.last.dueAt)),
    numbers(({ state }) => toColumn(state.last.succeededDueAt)),
    numbers(({ state }) => toColumn(state.last.succeededAt)),
    numbers(({ line }) => line.run.startedAt),
    numbers(({ line }) => leadOf(line)),
    numbers(({ line }) => line.endedAt),
    numbers(({ line }) => line.expiresAt),
    numbers(({ line }) => reasonNumber(line.ending)),
    texts(({ line }) => line.tenant ?? ''),
    texts(({ line }) => moreOfLine(line)),
  ]
}

/** In the form that `_column` reads: a value that all share is sent once. */
function column(values: readonly (number | string)[]): string {
  const [first] = values
  for (let index = 1; index < values.length; index++) if (values[index] !== first) return `{${values.join()}}`
  return `{${first}}`
}

/** A PostgreSQL array of texts. If all are empty: nothing, which it reads as nulls. */
function textArray(values: readonly string[]): string {
  if (values.every((value) => value === '')) return '{}'
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`
}

/** What one plain statement writes. */
export interface Plan {
  readonly changes: readonly Change[]
  readonly keys: readonly number[]
  readonly values: readonly string[]
  readonly instance: string
  /** The number of the claim. 0: they are settlements. */
  readonly claim: number
  readonly epoch: number
}

/** Of these changes, those that one plain statement can write: at most one per schedule. */
export function planOf(changes: readonly Change[], claimant: string | null, definitions: Definitions): Plan | null {
  return claimant === null ? settlementPlan(changes, definitions) : claimPlan(changes, claimant, definitions)
}

function claimPlan(changes: readonly Change[], claimant: string, definitions: Definitions): Plan | null {
  const claims: PlainClaim[] = []
  for (const change of once(changes)) {
    const found = plainClaim(change, definitions)
    if (found?.run.instance !== claimant) continue
    const [first = found] = claims
    if (found.run.claim === first.run.claim && change.epoch === first.change.epoch) claims.push(found)
  }
  const [first] = claims
  if (first === undefined) return null
  const values = claimValues(claims.sort(byKey))
  return { ...partsOf(claims), values, instance: claimant, claim: first.run.claim, epoch: first.change.epoch }
}

function settlementPlan(changes: readonly Change[], definitions: Definitions): Plan | null {
  const settled: PlainSettlement[] = []
  for (const change of once(changes)) {
    const found = plainSettlement(change, definitions)
    if (found === null) continue
    const [first = found] = settled
    if (found.instance === first.instance && change.epoch === first.change.epoch) settled.push(found)
  }
  const [first] = settled
  if (first === undefined) return null
  const values = settlementValues(settled.sort(byKey))
  return { ...partsOf(settled), values, instance: first.instance, claim: 0, epoch: first.change.epoch }
}

/** The changes whose schedule no other change is about. */
function once(changes: readonly Change[]): readonly Change[] {
  if (changes.length === 1) return changes
  const ids = new Set<string>()
  for (const { id } of changes) ids.add(id)
  if (ids.size === changes.length) return changes
  const counts = new Map<string, number>()
  for (const { id } of changes) counts.set(id, (counts.get(id) ?? 0) + 1)
  return changes.filter(({ id }) => counts.get(id) === 1)
}

/** Every transaction locks clocks in the order of their keys. */
function byKey(one: { readonly key: number }, other: { readonly key: number }): number {
  return one.key - other.key
}

function partsOf(items: readonly { readonly change: Change; readonly key: number }[]) {
  return { changes: items.map(({ change }) => change), keys: items.map(({ key }) => key) }
}
