import type {
  ClockStep,
  Entry,
  Fault,
  Finish,
  History,
  Instant,
  LedgerFire,
  NodeEntry,
  Operation,
  RunOfFire,
  Start,
  Time,
} from '../history.ts'
import { storeClock } from '../store-clock.ts'
import type { Verdict, Violation } from '../verdict.ts'
import { describeInstant, describeLength } from './words.ts'

/** What a timeline shows, by time and not yet by place. */
export interface Scene {
  readonly from: Time
  readonly to: Time
  readonly schedules: readonly ScheduleRow[]
  readonly lanes: readonly Lane[]
  /** Faults of all nodes. */
  readonly faults: readonly Fault[]
  readonly accusations: readonly Accusation[]
}

export interface ScheduleRow {
  readonly schedule: string
  readonly dues: readonly Due[]
  readonly operations: readonly Operation[]
}

/** An instant of a schedule, or a range of them, until it came to an end. */
export interface Due {
  readonly from: Time
  readonly to: Time
  readonly state: DueState
  readonly count: number
  readonly words: string
}

export type DueState = 'succeeded' | 'failed' | 'let-go' | 'open' | 'violated'

/** All processes that were started in one place, one after the other. */
export interface Lane {
  readonly slot: string
  readonly nodes: readonly NodeEntry[]
  readonly bars: readonly Bar[]
  readonly faults: readonly Fault[]
}

export interface Bar {
  readonly start: Start
  readonly to: Time
  readonly ending: Ending
  /** It is evidence of a violation. */
  readonly isAccused: boolean
}

/** `fenced`: it came to its end, but had been overtaken, and what it did was refused. */
export type Ending = 'succeeded' | 'threw' | 'cut-short' | 'fenced' | 'running'

export interface Accusation {
  readonly number: number
  readonly violation: Violation
  /** Where it shows best, if it is about any one moment. */
  readonly at: Time | null
}

export interface Window {
  readonly from: Time
  readonly to: Time
  readonly slotOf: (node: string) => string
}

export function createScene(history: History, verdict: Verdict, { from, to, slotOf }: Window): Scene {
  const timeOf = readClock(history)
  const isInside = (span: { at: Time; until?: Time }) => span.at <= to && (span.until ?? span.at) >= from
  const faults = [...pick(history, 'fault'), ...pick(history, 'clock').map(asFault)].filter(isInside)
  const bars = createBars(history, verdict).filter((bar) => isInside({ at: bar.start.at, until: bar.to }))
  const nodes = pick(history, 'node')
  const hit = faults.flatMap(({ node }) => (node === null ? [] : [{ node }]))
  const slots = new Set([...nodes, ...hit, ...bars.map((bar) => bar.start)].map(({ node }) => slotOf(node)))
  const lanes = [...slots].toSorted(compareNames).map((slot) => ({
    slot,
    nodes: nodes.filter(({ node }) => slotOf(node) === slot),
    bars: bars.filter((bar) => slotOf(bar.start.node) === slot),
    faults: faults.filter(({ node }) => node !== null && slotOf(node) === slot),
  }))
  return {
    from,
    to,
    lanes,
    schedules: createRows(history, verdict, { from, to }),
    faults: faults.filter(({ node }) => node === null),
    accusations: verdict.violations.map((violation, index) => {
      return { number: index + 1, violation, at: placeOf(violation, timeOf) }
    }),
  }
}

export function endOf({ entries, reads }: History): Time {
  const ends = entries.map((entry) => {
    if (entry.kind === 'fault') return entry.until
    return entry.kind === 'operation' ? (entry.endedAt ?? entry.at) : entry.at
  })
  return [...ends, ...reads.map(({ at }) => at)].reduce((latest, at) => Math.max(latest, at), 1)
}

function createBars(history: History, verdict: Verdict): Bar[] {
  const finishes = Map.groupBy(pick(history, 'finish'), (finish) => `${finish.node} ${keyOf(finish)}`)
  const refused = new Set(pick(history, 'effect').flatMap((effect) => (effect.accepted ? [] : [keyOf(effect)])))
  const settled = new Map((history.reads.at(-1)?.runs ?? []).map((run) => [keyOf(run), run.outcome]))
  const deaths = new Map(pick(history, 'node').flatMap(({ node, what, at }) => (what === 'ended' ? [[node, at]] : [])))
  const accused = new Set(verdict.violations.flatMap(({ evidence }) => evidence.flatMap(runKeyOf)))
  const end = endOf(history)

  return pick(history, 'start').map((start) => {
    const finish = finishes.get(`${start.node} ${keyOf(start)}`)?.shift()
    const death = deaths.get(start.node)
    const outcome = settled.get(keyOf(start))
    const wasRefused = refused.has(keyOf(start)) || (outcome !== 'succeeded' && typeof outcome === 'string')
    return {
      start,
      to: finish?.at ?? death ?? end,
      ending: endingOf(finish, wasRefused, refused.has(keyOf(start)), death !== undefined),
      isAccused: accused.has(keyOf(start)),
    }
  })
}

function endingOf(finish: Finish | undefined, isVoid: boolean, wasRefused: boolean, isDead: boolean): Ending {
  if (finish === undefined) return isDead ? 'cut-short' : 'running'
  if (finish.how === 'threw') return wasRefused ? 'fenced' : 'threw'
  return isVoid ? 'fenced' : 'succeeded'
}

function createRows(history: History, verdict: Verdict, { from, to }: { from: Time; to: Time }): ScheduleRow[] {
  const timeOf = readClock(history)
  const end = endOf(history)
  const violated = new Map(
    verdict.violations.map((violation) => [`${violation.schedule} ${violation.dueAt}`, violation]),
  )
  const rows = new Map<string, { dues: Due[]; operations: Operation[] }>()
  const rowOf = (schedule: string) => {
    if (!rows.has(schedule)) rows.set(schedule, { dues: [], operations: [] })
    return rows.get(schedule)!
  }
  const add = (schedule: string, due: Due): void => {
    if (due.from <= to && due.to >= from) rowOf(schedule).dues.push(due)
  }
  for (const fire of recordedFires(history)) {
    const violation = violated.get(`${fire.schedule} ${fire.dueAt}`)
    violated.delete(`${fire.schedule} ${fire.dueAt}`)
    const last = fire.untilAt === null ? fire.endedAt : fire.untilAt
    const span = { from: timeOf(fire.dueAt), to: last === null ? end : timeOf(last) }
    const state = violation === undefined ? stateOf(fire) : 'violated'
    add(fire.schedule, { ...span, state, count: fire.count, words: describeFire(fire, violation) })
  }
  // What should be on record and is not.
  for (const { schedule, dueAt, message } of violated.values()) {
    if (schedule === null || dueAt === null) continue
    add(schedule, { from: timeOf(dueAt), to: timeOf(dueAt), state: 'violated', count: 1, words: message })
  }
  for (const operation of pick(history, 'operation')) {
    if (operation.at >= from && operation.at <= to) rowOf(operation.schedule).operations.push(operation)
  }
  return [...rows]
    .toSorted(([one], [other]) => compareNames(one, other))
    .map(([schedule, { dues, operations }]) => {
      return { schedule, dues: dues.toSorted((one, other) => one.from - other.from), operations }
    })
}

/** As last read. Earlier reads know those that were pruned since. */
function recordedFires({ reads }: History): LedgerFire[] {
  const fires = new Map<string, LedgerFire>()
  for (const read of reads) {
    for (const fire of read.fires) fires.set(`${fire.schedule} ${fire.dueAt} ${fire.nonce}`, fire)
  }
  return [...fires.values()]
}

function stateOf({ outcome }: LedgerFire): DueState {
  if (outcome === null) return 'open'
  if (outcome === 'succeeded') return 'succeeded'
  return outcome === 'failed' || outcome === 'abandoned' ? 'failed' : 'let-go'
}

function describeFire(fire: LedgerFire, violation: Violation | undefined): string {
  const due = `${fire.schedule}, due ${describeInstant(fire.dueAt)}`
  const range = fire.count > 1 ? ` and ${fire.count - 1} more` : ''
  const outcome = fire.outcome === null ? 'open' : `${fire.outcome}: ${fire.reason}`
  const message = violation === undefined ? '' : `\n${violation.property}: ${violation.message}`
  return `${due}${range}\n${fire.origin}, ${outcome}, attempt ${fire.attempt}${message}`
}

/** Where the last of the evidence is, and without any, where it was due. */
function placeOf({ evidence, dueAt }: Violation, timeOf: (instant: Instant) => Time): Time | null {
  const times = evidence.flatMap((item) => {
    if ('startedAt' in item) return [timeOf(item.startedAt)]
    return 'kind' in item && item.kind !== 'operation' ? [item.at] : []
  })
  if (times.length > 0) return Math.max(...times)
  return dueAt === null ? null : timeOf(dueAt)
}

/** When the store's clock first showed it. */
function readClock(history: History): (instant: Instant) => Time {
  const clock = storeClock(history)
  return (instant) => clock.timesOf(instant).from + history.bounds.clockErrorMs
}

function asFault({ at, byMs }: ClockStep): Fault {
  return {
    kind: 'fault',
    at,
    until: at,
    fault: `clock ${byMs < 0 ? '−' : '+'}${describeLength(Math.abs(byMs))}`,
    node: null,
  }
}

function runKeyOf(item: Violation['evidence'][number]): string[] {
  return 'token' in item && item.token !== null && 'schedule' in item ? [keyOf(item)] : []
}

function keyOf({ schedule, token }: Pick<RunOfFire, 'schedule'> & { readonly token: string | null }): string {
  return `${schedule} ${token}`
}

function pick<Kind extends Entry['kind']>({ entries }: History, kind: Kind): Extract<Entry, { kind: Kind }>[] {
  return entries.filter((entry): entry is Extract<Entry, { kind: Kind }> => entry.kind === kind)
}

/** With numbers by their value: the tenth worker is below the second. */
const NAMES = new Intl.Collator('en', { numeric: true })

function compareNames(one: string, other: string): number {
  return NAMES.compare(one, other)
}
