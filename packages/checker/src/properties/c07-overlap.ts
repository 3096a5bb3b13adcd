import { type Case, compareClaims, type Subject } from '../case.ts'
import type { Story } from '../evidence.ts'
import { claimOf, type Instant, type LedgerRun, type Start, type Time } from '../history.ts'
import { claimText, fireText, iso, type Judge, type Report } from '../report.ts'
import { capacityOf, judgeFoundActive } from './c07-found-active.ts'
import { judgeLimits } from './c07-limits.ts'
import { hasLetGo } from './let-go.ts'

export const judgeOverlap: Judge = (judged, report) => {
  for (const subject of judged.schedules) {
    judgeClaims(judged, subject, report)
    judgeHandlers(judged, subject, report)
    judgeFoundActive(judged, subject, report)
  }
  judgeLimits(judged, report)
}

/** A fire in one of its rounds: active from its first claim to the end of its last run. */
interface Bout {
  readonly story: Story
  readonly round: number
  readonly runs: LedgerRun[]
}

/**
 * By the ledger, in the order of the claims: a run that begins finds less than the limit active, and one that goes on finds
 * less than the limit running. Fires by hand may have been told to ignore that.
 */
function judgeClaims({ clock }: Case, subject: Subject, report: Report): void {
  const bouts = boutsOf(subject)
  let open: Bout[] = []
  for (const run of subject.runs) {
    const bout = bouts.get(boutKey(run))
    if (bout === undefined) continue
    open = open.filter((other) =>
      other.runs.some(({ endedAt }) => endedAt === null || !clock.isBefore(endedAt, claimOf(run))),
    )
    const isFirst = run.attempt === 1
    const others = open.filter((other) => {
      if (other.story === bout.story) return false
      return isFirst ? spans(other, run, clock) : other.runs.some((its) => isRunning(its, run, clock))
    })
    const limit = capacityAt(subject, clock.timesOf(bout.story.dueAt).from, clock.timesOf(claimOf(run)).to)
    if (others.length >= limit) {
      const other = others.at(-1)!
      const active = `${others.length} of ${limit} were active, among them the one due ${iso(other.story.dueAt)}`
      const message = `${fireText(bout.story)} was ${claimText(run)} while ${active}.`
      report('C7', bout.story, message, [run, ...other.runs.slice(-1)])
    }
    if (!open.includes(bout)) open.push(bout)
  }
}

function boutsOf({ stories }: Subject): ReadonlyMap<string, Bout> {
  const bouts = new Map<string, Bout>()
  for (const story of stories.values()) {
    if (story.nonce !== '') continue
    for (const run of story.runs) {
      const key = boutKey(run)
      const known = bouts.get(key)
      if (known === undefined) bouts.set(key, { story, round: run.round, runs: [run] })
      else known.runs.push(run)
    }
  }
  return bouts
}

function boutKey({ dueAt, nonce, round }: LedgerRun): string {
  return `${dueAt} ${nonce} ${round}`
}

/** Begun before this run was claimed, and not over until after that. */
function spans({ runs }: Bout, claimed: LedgerRun, clock: Case['clock']): boolean {
  return isOpenAt(runs.at(-1)!, claimOf(claimed), clock)
}

function isRunning(run: LedgerRun, claimed: LedgerRun, clock: Case['clock']): boolean {
  if (run === claimed || compareClaims(clock, run, claimed) > 0) return false
  return isOpenAt(run, claimOf(claimed), clock)
}

/** An end is never recorded before the start: if the clock was set back in between, the run ended before the clock showed that time again. */
function isOpenAt({ startedAt, endedAt }: LedgerRun, instant: Instant, clock: Case['clock']): boolean {
  if (endedAt === null) return true
  return clock.isBefore(instant, endedAt) && !(clock.wasSetBack && endedAt === startedAt)
}

function capacityAt({ definitions }: Subject, from: Time, to: Time): number {
  const { specs } = definitions.during({ from, to: Math.max(from, to) })
  return specs.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...specs.map(capacityOf))
}

/** By the handlers: where one at a time may run, none begins beside another whose fire was not taken over. */
function judgeHandlers(judged: Case, subject: Subject, report: Report): void {
  const starts = [...subject.stories.values()]
    .filter(({ nonce }) => nonce === '')
    .flatMap((story) => story.starts.map((start) => ({ story, start })))
    .sort((a, b) => a.start.at - b.start.at)
  let open: typeof starts = []
  for (const later of starts) {
    open = open.filter(({ story, start }) => endOf(judged, story, start) > later.start.at)
    for (const earlier of open) {
      if (earlier.story === later.story) continue
      // A fire keeps the policy that it was planned with.
      if (capacityAt(subject, judged.clock.timesOf(later.story.dueAt).from, later.start.at) > 1) continue
      if (hasLetGo(judged, subject, earlier.story, earlier.start, later.start.at)) continue
      if (isOver(judged, later.story, later.start)) continue
      const other = `${earlier.start.node} still ran ${fireText(earlier.story)}`
      const message = `${fireText(later.story)} was started on ${later.start.node} while ${other}.`
      report('C7', later.story, message, [earlier.start, later.start])
    }
    open.push(later)
  }
}

/** Recovered by a peer before it began, which it could not know: its writes are rejected. C9 checks that. */
function isOver({ clock }: Case, { runs }: Story, { token, at }: Start): boolean {
  const run = runs.find((other) => other.token === token)
  return run !== undefined && run.endedAt !== null && clock.timesOf(run.endedAt).from <= at
}

/** With its transaction a fire is over, even if its handler continues. */
function endOf({ fleet }: Case, { finishes, effects }: Story, { token, node }: Start): Time {
  const commit = effects.find((effect) => effect.token === token && effect.sink === 'transaction' && effect.accepted)
  return Math.min(commit?.at ?? Number.POSITIVE_INFINITY, finishes.get(token)?.at ?? fleet.endOf(node))
}
