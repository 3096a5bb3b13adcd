import { type Case, countTimed, type Subject, standingOf } from '../case.ts'
import type { Story } from '../evidence.ts'
import { type LedgerFire, longestMs, type Spec } from '../history.ts'
import { instantsOf } from '../instants.ts'
import { fireText, iso, type Report } from '../report.ts'
import { hasEndedFire } from './c04-c05-when.ts'
import { isFreeToStart } from './in-the-way.ts'

/** C6. Returns how late each fire that could be judged was, in milliseconds. */
export function judgeLateness(judged: Case, report: Report): number[] {
  const lateness: number[] = []
  for (const subject of judged.schedules) {
    for (const story of subject.stories.values()) {
      judgeSettlements(judged, story, report)
      const late = latenessOf(judged, subject, story, report)
      if (late !== null) lateness.push(late)
    }
  }
  return lateness
}

/** `null`: not judged, because of a fault or a blocking fire. */
function latenessOf(judged: Case, subject: Subject, story: Story, report: Report): number | null {
  const first = firstRunOf(story)
  if (first === null) return null
  const { record, start, run } = first
  const { specs, mayBeAbsent, paused } = standingOf(judged, subject, story.dueAt, run.startedAt)
  const [spec] = specs
  if (spec === undefined || specs.length > 1 || mayBeAbsent || paused !== 'no') return null
  const evidence = [record, start]
  if (record.origin === 'scheduled' && !isWithinJitter(spec, record)) {
    const message = `${fireText(story)} was ready at ${iso(record.readyAt)}, beyond its jitter of ${spec.jitterMs} ms.`
    report('C6', story, message, evidence)
    return null
  }
  const ready = judged.clock.timesOf(record.readyAt)
  const isJudged =
    judged.fleet.isCalm(ready.from, start.at) &&
    isFreeToStart(judged, subject, spec, { from: ready.from, to: Math.max(ready.from, start.at) }, story)
  if (!isJudged) return null
  countTimed(judged, 'C6')
  const late = Math.max(0, start.at - ready.to)
  if (late > longestMs(judged.bounds)) {
    const message = `${fireText(story)} was started ${late} ms after it was ready, though nothing was wrong.`
    report('C6', story, message, evidence, 'time')
  }
  return late
}

/** The only attempt of a fire, with its start. `null`: none, or more than one. */
function firstRunOf({ record, starts: [start], runs: [run] }: Story) {
  if (record === null || start === undefined || run === undefined) return null
  if (start.attempt !== 1 || record.round !== 1 || record.attempt !== 1) return null
  return run.endedAt === null || hasEndedFire(run, record) ? { record, start, run } : null
}

/** While nothing is wrong, a run is settled soon after its handler has finished. */
function judgeSettlements({ clock, fleet, bounds }: Case, story: Story, report: Report): void {
  for (const run of story.runs) {
    const finish = story.finishes.get(run.token)
    if (finish === undefined || run.endedAt === null) continue
    const lateMs = clock.timesOf(run.endedAt).from - finish.at
    if (lateMs <= longestMs(bounds) || !fleet.isCalm(finish.at, finish.at + lateMs)) continue
    const message = `${fireText(story)}: run ${run.token} was settled ${lateMs} ms after its handler had finished.`
    report('C6', story, message, [finish, run], 'time')
  }
}

/** Ready neither before it is due, nor after that by more than the jitter, nor after the next one is due. */
function isWithinJitter(spec: Spec, { dueAt, readyAt }: LedgerFire): boolean {
  if (readyAt === dueAt) return true
  return readyAt > dueAt && readyAt <= dueAt + spec.jitterMs && instantsOf(spec, dueAt + 1, readyAt).length === 0
}
