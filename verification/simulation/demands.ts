import { SYNC_POINTS } from '../sync-points.ts'

/** A set of seeds this large must have met everything below. */
export const DEMANDED_FROM = 100

/**
 * What must have happened, how often in a hundred seeds at least, and which counters tell. A run that did not get into trouble
 * proves nothing, and is not passed but invalid.
 */
const DEMANDS: readonly (readonly [least: number, what: string, ...counters: string[]])[] = [
  [20, 'a settlement by a run that was overtaken was refused', 'zombie refused: settle'],
  [3, 'a step of a run that was overtaken was refused', 'zombie refused: once'],
  [3, 'a transaction of a run that was overtaken was refused', 'zombie refused: transaction'],
  [3, 'progress of a run that was overtaken was refused', 'zombie refused: progress'],
  [20, 'an instance was declared dead', 'declared dead'],
  [20, 'a fire was granted again after its instance died', 'run.retried crashed'],
  [10, 'a renewal was refused: it was declared dead', 'renewal refused'],
  [20, 'an answer was lost although it was applied', 'link answer-lost', 'link applied-then-throws'],
  [20, 'a request was lost', 'link request-lost'],
  [20, 'a request was delivered twice', 'link duplicate'],
  [20, 'a request or its answer was slow', 'link slow'],
  [50, 'two wrote to a schedule at the same time', 'apply conflict'],
  [3, 'a claim was refused: the claimant was dead', 'apply not-live'],
  [3, 'a claim was refused: a limit was used up', 'apply full'],
  [0.2, 'a claim was refused: it was early', 'apply early'],
  [3, 'the clock of the store stepped back', 'store clock stepped back'],
  [3, 'the clock of the store stepped ahead', 'store clock stepped ahead'],
  [10, 'the clock of a process stepped', 'wall clock step'],
  [10, 'the clock of a host stepped', 'wall clock of a host stepped'],
  [5, 'the store could not be reached', 'outage'],
  [10, 'a process was paused for longer than its lease', 'paused beyond the lease'],
  [5, 'a handler blocked its process', 'blocked'],
  [5, 'wake-ups did not get through', 'deaf'],
  [20, 'an instance was asked to stop', 'stop'],
  [5, 'an instance was drained', 'drain'],
  [5, 'another release counted', 'redeclared'],
  [3, 'a job left the code', 'retired'],
  [3, 'an old release came back, and did not count', 'old release'],
  [5, 'live processes of one app declared different jobs', 'deployment.disjoint', 'schedule.contested'],
  [50, 'a fire was skipped for overlap', 'fire.skipped overlap'],
  [5, 'a queue was full', 'fire.skipped queue-full'],
  [10, 'a late fire was missed', 'fire.missed late', 'fire.missed superseded', 'fire.missed too-late'],
  [10, 'what was late was caught up with', 'caught up'],
  [5, 'a run started late for want of room', 'run.started room'],
  [5, 'a run started late because of its turn', 'run.started turn'],
  [5, 'a fire fell into a pause', 'fire.skipped paused'],
  [20, 'a run was retried after a failure', 'run.retried error'],
  [10, 'a run timed out', 'run.ended timeout'],
  [3, 'a run ignored its signal', 'run.overran'],
  [5, 'a run was cancelled', 'run.cancelled cancelled-by-operator'],
  [5, 'a run was replaced', 'run.ended replaced', 'run.cancelled replaced'],
  [5, 'a run was handed back', 'run.ended handed-back'],
  [3, 'a fire was abandoned', 'fire.ended crashed', 'fire.ended crash-budget', 'fire.ended stopped'],
  [5, 'a backfill was run', 'backfilled'],
  [3, 'a fire was run in another round', 'another round'],
  [3, 'a trigger of a key that is on record', 'op-trigger deduped'],
  [10, 'two operators asked for something at the same instant', 'simultaneous'],
  [1_000, 'a feed reported the end of a run', 'feed run.ended'],
  [100, 'a feed reported a fire that ended without a run', 'feed fire.ended'],
  [5, 'an operator did not know what became of a wish', 'unknown wish'],
  [5, 'a wish of an operator was refused', 'refused wish'],
  [20, 'records were pruned', 'pruned record'],
  [20, 'a transaction was committed', 'transaction committed'],
  [1, 'a transaction whose answer was lost was resolved', 'transaction resolved'],
  [1, 'the end of a step was unknown', 'step begin unknown'],
  [1, 'a fire in or next to a gap or an overlap of local time', 'shifted instant'],
  ...SYNC_POINTS.map((point): [number, string, string] => [1, `a crash at ${point}`, `crash at ${point}`]),
]

/** What did not happen often enough, in words. */
export function lackingIn(counters: Readonly<Record<string, number>>, seeds: number): string[] {
  if (seeds < DEMANDED_FROM) return []
  return DEMANDS.flatMap(([least, what, ...names]) => {
    const met = names.reduce((sum, name) => sum + (counters[name] ?? 0), 0)
    const wanted = Math.max(least < 1 ? 0 : 1, Math.floor((least * seeds) / DEMANDED_FROM / 2))
    return met < wanted ? [`${what}: ${met}, not ${wanted}`] : []
  })
}
