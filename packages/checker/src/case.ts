import { type Definitions, definitionsOf, type Standing } from './definitions.ts'
import { byToken, type Dossier, evidenceOf, type Story } from './evidence.ts'
import { type Expected, expectedOf } from './expected.ts'
import { type Fleet, fleetOf } from './fleet.ts'
import {
  type Bounds,
  claimOf,
  type History,
  type Instant,
  type Ledger,
  type LedgerRun,
  type LedgerSchedule,
  type Spec,
  type Time,
} from './history.ts'
import { type SpanIndex, spanIndex } from './spans.ts'
import { type StoreClock, storeClock, type Times } from './store-clock.ts'
import type { Property } from './verdict.ts'

/** A history prepared for judging: each property examines it and reports violations. */
export interface Case {
  readonly history: History
  readonly bounds: Bounds
  readonly clock: StoreClock
  readonly fleet: Fleet
  readonly final: Ledger
  readonly schedules: readonly Subject[]
  /** The node of the instance that held a run, as far as its handlers reported it. */
  readonly nodes: ReadonlyMap<string, string>
  /**
   * How many cases the rules about elapsed time could judge, because witnesses vouch for the whole stretch. The rules
   * count themselves.
   */
  readonly timed: Map<Property, number>
}

export function countTimed({ timed }: Case, property: Property): void {
  timed.set(property, (timed.get(property) ?? 0) + 1)
}

/** A schedule, and all that is known about it. */
export interface Subject extends Dossier {
  readonly definitions: Definitions
  /** Its state in the last read. */
  readonly row: LedgerSchedule | null
  readonly expected: ReadonlyMap<Instant, Expected>
  /** In the order of the claims. */
  readonly runs: readonly LedgerRun[]
  /** When fires may have been active: from the first claim to the end, back-off included. */
  readonly active: SpanIndex<Story>
  /** When fires may have been open: also while they waited for their turn. */
  readonly open: SpanIndex<Story>
  /** The minimum time for which records are kept. */
  readonly keptMs: number
  /** Records of instants up to this one may have been pruned. */
  readonly prunedTo: Instant
}

const NOTHING: Ledger = {
  at: Number.NEGATIVE_INFINITY,
  until: Number.NEGATIVE_INFINITY,
  storeAt: Number.NEGATIVE_INFINITY,
  fires: [],
  runs: [],
  schedules: [],
  instances: [],
}

export function prepare(history: History): Case {
  const clock = storeClock(history)
  const final = history.reads.at(-1) ?? NOTHING
  const dossiers = evidenceOf(history, final)
  const nodes = new Map<string, string>()
  const schedules = [...dossiers.values()].map((dossier) => subjectOf(dossier, history, final, clock))
  for (const { stories } of schedules) {
    for (const { runs, starts } of stories.values()) {
      for (const { token, node } of starts) {
        const run = runs.find((other) => other.token === token)
        if (run !== undefined) nodes.set(run.instance, node)
      }
    }
  }
  const fleet = fleetOf(history.entries, history.bounds, final.at, history.owners)
  return { history, bounds: history.bounds, clock, fleet, final, schedules, nodes, timed: new Map() }
}

function subjectOf(dossier: Dossier, history: History, final: Ledger, clock: StoreClock): Subject {
  const { operations, stories } = dossier
  const specs = operations.flatMap((operation) => (operation.verb === 'define' ? [operation.spec] : []))
  const latest = clock.shown(0, Math.max(0, final.at)).high
  const keptMs = keptMsOf(dossier, specs)
  const prunedTo = latest - keptMs
  const definitions = definitionsOf(operations, clock, mayPauseItself(dossier, specs, prunedTo))
  const horizon = { endAt: final.at, recoveryMs: history.bounds.recoveryMs }
  return {
    ...dossier,
    definitions,
    row: final.schedules.find(({ id }) => id === dossier.id) ?? null,
    expected: expectedOf(dossier, definitions, clock, horizon),
    runs: [...stories.values()].flatMap(({ runs }) => runs).sort((a, b) => compareClaims(clock, a, b)),
    active: spanIndex([...stories.values()].flatMap((story) => activitySpan(story, clock))),
    open: spanIndex([...stories.values()].flatMap((story) => openSpan(story, clock))),
    keptMs,
    prunedTo,
  }
}

const DAY_MS = 86_400_000

/** The minimum age of a record: its retention, or its place when records are kept by number. */
function keptMsOf({ stories, ranges }: Dossier, specs: readonly Spec[]): number {
  const count = stories.size + ranges.length
  const ages = specs.map(({ keepMs, keepCount, misfire }) => {
    // A fire that ended several times was counted each time.
    return count > keepCount / 2 ? Math.min(keepMs, misfire.windowMs + DAY_MS) : keepMs
  })
  return Math.min(...ages)
}

function mayPauseItself({ stories }: Dossier, specs: readonly Spec[], prunedTo: Instant): boolean {
  const fewest = Math.min(...specs.map(({ pauseAfter }) => pauseAfter ?? Number.POSITIVE_INFINITY))
  if (fewest === Number.POSITIVE_INFINITY) return false
  let failed = 0
  for (const { record, dueAt } of stories.values()) {
    if (dueAt <= prunedTo) return true
    // A fire that failed may have been run again since.
    if (record !== null && (record.outcome === 'failed' || record.outcome === 'abandoned' || record.round > 1)) failed++
  }
  return failed >= fewest
}

function activitySpan(story: Story, clock: StoreClock) {
  const begun = story.runs.map((run) => clock.timesOf(claimOf(run)).from)
  if (begun.length === 0) return story.record === null ? handledSpan(story) : []
  return [{ from: Math.min(...begun), to: endOf(story, clock), item: story }]
}

function openSpan(story: Story, clock: StoreClock) {
  if (story.record === null) return activitySpan(story, clock)
  const begun = story.runs.map((run) => clock.timesOf(claimOf(run)).from)
  // In another round it was planned again, and when it was for the first time is not on record any more.
  const plannedAt = story.record.round > 1 ? story.dueAt : story.record.plannedAt
  const from = Math.min(clock.timesOf(plannedAt).from, ...begun)
  return [{ from, to: endOf(story, clock), item: story }]
}

/** For fires that are no longer on record, only the handlers testify. */
function handledSpan(story: Story) {
  const { starts, finishes } = story
  if (starts.length === 0) return []
  const ends = starts.map(({ token }) => finishes.get(token)?.at ?? Number.POSITIVE_INFINITY)
  return [{ from: Math.min(...starts.map(({ at }) => at)), to: Math.max(...ends), item: story }]
}

function endOf({ record }: Story, clock: StoreClock): Time {
  return record === null || record.endedAt === null ? Number.POSITIVE_INFINITY : clock.timesOf(record.endedAt).to
}

/** Which was claimed first. If the clock was set back, only the tokens show it. */
export function compareClaims({ wasSetBack }: StoreClock, a: LedgerRun, b: LedgerRun): number {
  return (wasSetBack ? 0 : claimOf(a) - claimOf(b)) || byToken(a, b)
}

/** What the schedule may have been from when a fire was due until then: its policies are among these. */
export function standingOf({ clock }: Case, subject: Subject, dueAt: Instant, until: Instant): Standing {
  const { from } = clock.timesOf(dueAt)
  return subject.definitions.during({ from, to: Math.max(from, clock.timesOf(until).to) })
}

/** From when a run was claimed, at the earliest, until it ended, at the latest. */
export function timesOfRun({ clock, final }: Case, run: LedgerRun): Times {
  const to = run.endedAt === null ? final.at : clock.timesOf(run.endedAt).to
  return { from: clock.timesOf(claimOf(run)).from, to }
}
