import { DETECT_JOB } from '../../model/exclusive-jobs.ts'
import type { FireEnd } from '../../model/record.ts'
import type { ScheduleEnd, ScheduleFacts, Verdict } from './facts.ts'
import { latestOf } from './slow.ts'

/** How long a duplicate that was not followed by any other execution is reported: a daily job has its next one within it. */
const REPORTED_MS = 26 * 3_600_000

/** A second scheduler: another fleet writes the heartbeat of the app, or work of `app.detect()` was executed twice. */
export function duplicate(facts: ScheduleFacts): Verdict {
  return facts.schedule.job === DETECT_JOB ? executedTwice(facts) : writtenByTwo(facts)
}

function executedTwice({ now, ends, history }: ScheduleFacts): Verdict {
  const latest = ends?.filter(isDuplicate).at(-1)
  if (latest !== undefined) {
    const { host, pid } = latest.input as { readonly host: string; readonly pid: number }
    return { text: `executed again within its window, by process ${pid} on ${host}` }
  }
  if (ends !== null && ends.length > 0) return 'fine'
  const isRecent = ({ reason, endedAt }: FireEnd): boolean => reason === 'overlap' && now - endedAt <= REPORTED_MS
  return history === null || history.some(isRecent) ? 'unknown' : 'fine'
}

/** Whether it is the record of an execution that duplicates another one. */
export function isDuplicate({ job, ending }: ScheduleEnd): boolean {
  return job === DETECT_JOB && ending?.reason === 'overlap'
}

function writtenByTwo({ schedule, ends }: ScheduleFacts): Verdict {
  if (schedule.state !== 'active') return 'fine'
  const latest = latestOf(ends ?? [])
  if (latest === undefined) return 'unknown'
  const other = otherWriter(latest)
  return other === null ? 'fine' : { text: `the namespace ${other} of the same store writes it as well` }
}

/** The namespace of the other fleet that this heartbeat has found. */
export function otherWriter({ run }: ScheduleEnd): string | null {
  return (run?.result as { readonly other?: string | null } | null | undefined)?.other ?? null
}
