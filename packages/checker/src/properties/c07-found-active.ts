import { type Case, countTimed, type Subject, standingOf } from '../case.ts'
import type { Story } from '../evidence.ts'
import { claimOf, type Instant, type LedgerFire, type LedgerRun, longestMs, type Spec } from '../history.ts'
import { fireText, iso, type Report } from '../report.ts'
import { firstReadyAt } from './waiting.ts'

/**
 * A fire that is on time and finds others active when it is planned is skipped, waits or takes their place, as its policy
 * says. The times on record are those of decisions about one schedule, which come one after the other.
 */
export function judgeFoundActive(judged: Case, subject: Subject, report: Report): void {
  if (judged.clock.wasSetBack) return
  const fires = [...subject.stories.values()].filter(isPlain)
  const planned = fires.toSorted((a, b) => a.record.plannedAt - b.record.plannedAt)
  let open: PlainFire[] = []
  for (const fire of planned) {
    const { plannedAt } = fire.record
    open = open.filter(({ record }) => record.endedAt === null || record.endedAt > plannedAt)
    const spec = policyAtPlanning(judged, subject, fire.record)
    if (spec !== null) judgeFire(judged, subject, fire, spec, open, report)
    open.push(fire)
  }
}

interface PlainFire extends Story {
  readonly record: LedgerFire
}

/** One that was planned once, by the series, and whose end is known: what was open and is on record no more has ended. */
function isPlain(story: Story): story is PlainFire {
  const { nonce, record, isInFinal } = story
  if (nonce !== '' || record?.origin !== 'scheduled' || record.round !== 1) return false
  return isInFinal || record.endedAt !== null
}

/** `null`: it is not sure which one it was, or the fire was not on time and overlap was not asked. */
function policyAtPlanning(judged: Case, subject: Subject, { dueAt, plannedAt }: LedgerFire): Spec | null {
  const { specs, paused } = standingOf(judged, subject, dueAt, plannedAt)
  const [spec] = specs
  if (spec === undefined || specs.length > 1 || paused !== 'no' || spec.jitterMs > 0) return null
  return plannedAt - dueAt <= spec.misfire.graceMs ? spec : null
}

function judgeFire(
  judged: Case,
  subject: Subject,
  fire: PlainFire,
  spec: Spec,
  open: readonly PlainFire[],
  report: Report,
): void {
  const { dueAt, plannedAt, outcome, reason } = fire.record
  // What passed while the schedule was retired is recorded and not judged.
  if (outcome === 'skipped' || reason === 'while-retired') return
  // What was planned when this fire was due already came due together with it: planning was late.
  const earlier = open.filter(({ record }) => record.plannedAt < Math.min(plannedAt, dueAt))
  const active = earlier.filter(({ runs }) => runs.some((run) => claimOf(run) < plannedAt))
  if (spec.overlap.kind === 'replace') judgeReplaced(judged, subject, fire, active, report)
  if (active.length < capacityOf(spec)) {
    judgeStalled(judged, subject, fire, spec, { active: active.length, earlier }, report)
    return
  }
  const waiting = earlier.filter(({ runs }) => runs.every((run) => claimOf(run) > plannedAt)).length
  if (waiting < placesOf(spec)) return
  const found = `${active.length} active and ${waiting} waiting`
  const message = `${fireText(fire)} found ${found} at ${iso(plannedAt)}, and was not skipped (${spec.overlap.kind}).`
  report('C7', fire, message, [fire.record, ...active.map(({ record }) => record).slice(0, 1)])
}

/** Fires that wait although fewer are active than may be count as well, while they are on time. */
function judgeStalled(
  judged: Case,
  subject: Subject,
  fire: PlainFire,
  spec: Spec,
  { active, earlier }: { readonly active: number; readonly earlier: readonly PlainFire[] },
  report: Report,
): void {
  const { kind, limit } = spec.overlap
  if (kind === 'replace') return
  const { plannedAt } = fire.record
  const waiting = earlier.filter((other) => {
    if (other.runs.some((run) => claimOf(run) <= plannedAt) || mayHaveBeenClaimed(subject, other)) return false
    // Only those that were planned on time are certain not to have been asked for.
    if (kind !== 'queue-all' && policyAtPlanning(judged, subject, other.record) !== spec) return false
    return kind === 'queue-all' || plannedAt - firstReadyAt(other) <= spec.misfire.graceMs
  })
  const places = kind === 'queue-all' ? limit : capacityOf(spec) - active
  if (waiting.length < places || (kind !== 'queue-all' && spec.misfire.late === 'all')) return
  const found = `${active} active and ${waiting.length} waiting`
  const message = `${fireText(fire)} found ${found} at ${iso(plannedAt)}, and was not skipped (${kind}).`
  report('C7', fire, message, [fire.record, ...waiting.map(({ record }) => record).slice(0, 1)])
}

/**
 * Whether an earlier claim of the fire may be missing on record: one that was ahead and did not start leaves a gap in the tokens. Before
 * the lowest token on record, no gap can be seen.
 */
function mayHaveBeenClaimed({ runs }: Subject, { runs: [first] }: Story): boolean {
  if (first === undefined) return false
  const before = BigInt(first.token) - 1n
  const tokens = runs.map(({ token }) => BigInt(token))
  if (tokens.includes(before)) return false
  return tokens.includes(before - 1n) || tokens.every((token) => token > before)
}

/** How many may be active at a time. */
export function capacityOf({ overlap }: Spec): number {
  return overlap.kind === 'allow' ? overlap.limit : 1
}

/** How many may wait for those that are active. */
function placesOf({ overlap }: Spec): number {
  if (overlap.kind === 'skip' || overlap.kind === 'allow') return 0
  if (overlap.kind === 'queue') return 1
  return overlap.kind === 'queue-all' ? overlap.limit : Number.POSITIVE_INFINITY
}

/**
 * A run whose place another fire takes ends after its grace, if nothing is done to its node: its handler finishes, or the run is
 * revoked. How soon a finished run is settled is C6's.
 */
function judgeReplaced(
  judged: Case,
  subject: Subject,
  by: PlainFire,
  active: readonly PlainFire[],
  report: Report,
): void {
  const { clock, fleet, bounds, final } = judged
  const { from } = clock.timesOf(by.record.plannedAt)
  for (const story of active) {
    const run = story.runs.find((one) => isRunningAt(one, by.record.plannedAt))
    const start = story.starts.find(({ token }) => token === run?.token)
    if (run === undefined || start === undefined) continue
    const { specs } = standingOf(judged, subject, story.dueAt, by.record.plannedAt)
    const graceMs = Math.max(...specs.map(({ timeout }) => timeout.graceMs))
    const ended = Math.min(
      run.endedAt === null ? final.at : clock.timesOf(run.endedAt).from,
      story.finishes.get(start.token)?.at ?? Number.POSITIVE_INFINITY,
    )
    const longest = graceMs * 1.25 + longestMs(bounds)
    if (fleet.wasHit(start.node, from, Math.max(from, ended))) continue
    countTimed(judged, 'C7')
    if (ended - from <= longest) continue
    report('C7', story, `${fireText(story)} went on after ${fireText(by)} took its place.`, [run, by.record], 'time')
  }
}

function isRunningAt(run: LedgerRun, at: Instant): boolean {
  return claimOf(run) < at && (run.endedAt === null || run.endedAt > at)
}
