import type { ScheduleView } from 'cronce'
import type { Simulated } from './read-simulated.ts'
import type { Simulation } from './simulate.ts'
import type { ScheduleTally, Tally } from './tally.ts'

/** What is printed. */
export interface Report {
  readonly made: Simulation
  readonly read: Simulated
  readonly tz: string
  readonly room: number
  readonly otherwise: number
  readonly named: ReadonlyMap<string, number>
}

/** The outcomes of the fires of a schedule, in the words of a column. */
export interface Counts {
  readonly name: string
  readonly isPaused: boolean
  readonly tally: ScheduleTally
  readonly succeeded: number
  readonly failed: number
  /** Skipped for overlap, for a full queue, or replaced by a newer fire. */
  readonly overlapped: number
  /** All other fires that did not run. */
  readonly other: number
}

const OVERLAPPED = ['overlap', 'queue-full', 'replaced']
const FAILED = ['timeout', 'error', 'retry-too-late', 'crash-budget', 'crashed', 'recovery-too-late', 'step-unknown']

/** Those with the most trouble first. */
export function countsOf({ views, tally }: Simulation): readonly Counts[] {
  return views
    .map((view) => countOf(view, tally))
    .sort(
      (one, other) =>
        troubleOf(other) - troubleOf(one) || other.tally.fires - one.tally.fires || (one.name < other.name ? -1 : 1),
    )
}

function countOf({ name, pause }: ScheduleView, all: Tally): Counts {
  const tally = all.of(name)
  const sum = (reasons: readonly string[]): number =>
    reasons.reduce((total, reason) => total + (tally.reasons.get(reason) ?? 0), 0)
  const [succeeded, failed, overlapped] = [sum(['completed']), sum(FAILED), sum(OVERLAPPED)]
  const other = tally.fires - succeeded - failed - overlapped
  return { name, isPaused: pause !== null, tally, succeeded, failed, overlapped, other }
}

function troubleOf({ failed, overlapped, tally }: Counts): number {
  return failed + overlapped + tally.beside + tally.waited
}

/** The hour with the most runs, and when it begins. */
export function busiestHour({ starts, from }: Tally): { readonly at: number; readonly runs: number } {
  const runs = starts.reduce((most, count) => Math.max(most, count), 0)
  return { at: from + starts.indexOf(runs) * 3_600_000, runs }
}
