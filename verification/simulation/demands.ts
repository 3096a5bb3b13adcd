import { SYNC_POINTS } from '../sync-points.ts'

/** With fewer seeds nothing is demanded. */
export const DEMANDED_FROM = 100

/** Seeds that must pass before something is demanded, times the share of seeds that meet it: exp(-14) is less than one in a million. */
const EXPECTED = 14

/**
 * What must have happened at least once; otherwise a run is invalid, not passed. Each has the percentage of seeds that meet it
 * (estimated low, from 64 seeds) and its counters. Demanded only of enough seeds that chance misses it once in a million runs.
 */
const DEMANDS: readonly (readonly [percent: number, what: string, ...counters: string[]])[] = [
  [20, 'a settlement by a run that was overtaken was refused', 'zombie refused: settle'],
  [2, 'a step of a run that was overtaken was refused', 'zombie refused: once'],
  [3, 'a transaction of a run that was overtaken was refused', 'zombie refused: transaction'],
  [2, 'progress of a run that was overtaken was refused', 'annotate stale'],
  [20, 'an instance was declared dead', 'declared dead'],
  [20, 'a fire was granted again after its instance died', 'run.retried crashed'],
  [20, 'a renewal was refused: it was declared dead', 'renewal refused'],
  [20, 'an answer was lost although it was applied', 'link answer-lost', 'link applied-then-throws'],
  [20, 'a request was lost', 'link request-lost'],
  [20, 'a request was delivered twice', 'link duplicate'],
  [20, 'a request or its answer was slow', 'link slow'],
  [20, 'two wrote to a schedule at the same time', 'apply conflict'],
  [3, 'a claim was refused: the claimant was dead', 'apply not-live'],
  [12, 'a claim was refused: a limit was used up', 'apply full'],
  [20, 'a claim was refused: it was early', 'apply early'],
  [12, 'the clock of the store stepped back', 'store clock stepped back'],
  [20, 'the clock of the store stepped ahead', 'store clock stepped ahead'],
  [20, 'the clock of a process stepped', 'wall clock step'],
  [20, 'the clock of a host stepped', 'wall clock of a host stepped'],
  [20, 'the store could not be reached', 'outage'],
  [20, 'a process was paused for longer than its lease', 'paused beyond the lease'],
  [20, 'a handler blocked its process', 'blocked'],
  [20, 'wake-ups did not get through', 'deaf'],
  [20, 'an instance was asked to stop', 'stop'],
  [20, 'a fire was claimed ahead', 'claimed ahead'],
  [3, 'a run that was claimed ahead was given back without a trace', 'claimed ahead, not started'],
  [20, 'a process that lives was taken for gone', 'session lost'],
  [3, 'a crash at run:due', 'crash at run:due'],
  [20, 'an instance was drained', 'drain'],
  [12, 'a process that only called runDue ran a fire', 'run in a call'],
  [6, 'a process that only called runDue was killed', 'call killed'],
  [20, 'another release counted', 'redeclared'],
  [12, 'a job left the code', 'retired'],
  [2, 'a calendar excluded a fire', 'fire.skipped calendar'],
  [12, 'an old release came back, and did not count', 'old release'],
  [6, 'live processes of one app declared different jobs', 'deployment.disjoint', 'schedule.contested'],
  [12, 'a declaration was refused: another app has the name', 'schedule.refused SCHEDULE_NAME_TAKEN'],
  [3, 'a name that was retired passed to another app', 'name passed on: retired'],
  [4, 'the name of an app that was gone passed to another app', 'name passed on: app gone'],
  [5, 'an app came back after the hold-down', 'an app came back'],
  [4, 'an app was gone for good', 'an app is gone for good'],
  [1.3, 'two apps ran schedules that a client made', 'client-made schedules run by two apps'],
  [4, 'a job went on under another name', 'job renamed'],
  [5, 'a run of a job that belongs to a label', 'ran on a label'],
  [6, 'a run of a job that fires on each host', 'ran on a host'],
  [2, 'a host was gone for the hold-down', 'host gone'],
  [1.3, 'a host that was gone came back', 'host came back'],
  [0.4, "a job got hosts: 'each', and its old schedule was retired", 'job on each host instead'],
  [0.4, "a job lost hosts: 'each', or left the code, and was retired on a host", 'host dropped'],
  [20, 'a fire was skipped for overlap', 'fire.skipped overlap'],
  [20, 'a queue was full', 'fire.skipped queue-full'],
  [20, 'a late fire was missed', 'fire.missed late', 'fire.missed superseded', 'fire.missed too-late'],
  [20, 'what was late was caught up with', 'caught up'],
  [12, 'a run started late for want of room', 'run.started room'],
  [20, 'a run started late because of its turn', 'run.started turn'],
  [20, 'a fire fell into a pause', 'fire.skipped paused'],
  [20, 'a run was retried after a failure', 'run.retried error'],
  [20, 'a run timed out', 'run.ended timeout'],
  [20, 'a run ignored its signal', 'run.overran'],
  [3, 'a run was cancelled', 'run.cancelled cancelled-by-operator'],
  [20, 'a run was replaced', 'run.ended replaced', 'run.cancelled replaced'],
  [20, 'a run was handed back', 'run.ended handed-back'],
  [20, 'a fire was abandoned', 'fire.ended crashed', 'fire.ended crash-budget', 'fire.ended stopped'],
  [6, 'a backfill was run', 'backfilled'],
  [12, 'a fire was run in another round', 'another round'],
  [20, 'a trigger of a key that is on record', 'op-trigger deduped'],
  [12, 'two operators asked for something at the same instant', 'simultaneous'],
  [20, 'a feed reported the end of a run', 'feed run.ended'],
  [20, 'a feed reported a fire that ended without a run', 'feed fire.ended'],
  [6, 'an alert was sent', 'alert firing'],
  [3, 'the end of an alert was sent', 'alert resolved'],
  [2, 'an alert was sent by another process than the one that had noticed', 'alert sent by a successor'],
  [1, 'the receiver of alerts was down', 'alert receiver down'],
  [20, 'an operator did not learn the result of a request', 'unknown wish'],
  [20, 'a wish of an operator was refused', 'refused wish'],
  [5, 'two ends of a schedule were gathered', 'two ends of a schedule gathered'],
  [0.5, 'a job was renamed one release late', 'renamed one release late'],
  [12, 'records were pruned', 'pruned record'],
  [20, 'a transaction was committed', 'transaction committed'],
  [6, 'a transaction whose answer was lost was resolved', 'transaction resolved'],
  [6, 'the end of a step was unknown', 'step begin unknown'],
  [6, 'a fire in or next to a gap or an overlap of local time', 'shifted instant'],
  ...SYNC_POINTS.map((point): [number, string, string] => [3, `a crash at ${point}`, `crash at ${point}`]),
]

/** What did not happen although the seeds are enough for it, in words. */
export function lackingIn(counters: Readonly<Record<string, number>>, seeds: number): string[] {
  return DEMANDS.filter(([percent]) => seeds >= Math.max(DEMANDED_FROM, (100 * EXPECTED) / percent))
    .filter(([, , ...names]) => names.every((name) => (counters[name] ?? 0) === 0))
    .map(([, what]) => what)
}
