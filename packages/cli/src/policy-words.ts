import type { ScheduleView } from 'cronce'
import { formatCount, formatDuration } from './format.ts'
import { counted } from './steer/say.ts'

type Policy = ScheduleView['policy']

/** What a schedule does when something is not as it should be: one line each, all of them. */
export function policyWords(policy: Policy): readonly (readonly [name: string, words: string])[] {
  const { retry, timeout, misfire, retention, limits, jitter, pauseAfter } = policy
  return [
    ['guarantee', policy.guarantee],
    ['overlap', overlapWords(policy.overlap)],
    ['misfire', misfireWords(misfire)],
    ['retry', retryWords(retry)],
    ['timeout', timeoutWords(timeout)],
    ['jitter', jitter.ms === 0 ? 'none' : `up to ${formatDuration(jitter.ms)}, ${jitter.kind}`],
    ['limits', limitWords(limits)],
    [
      'pause after',
      pauseAfter === null ? 'never' : pauseAfter === 1 ? 'a failed fire' : `${pauseAfter} failed fires in a row`,
    ],
    [
      'retention',
      `${formatDuration(retention.keepMs)}${keepBy(retention)}, at most ${counted(retention.count, 'fire')}`,
    ],
  ]
}

function overlapWords({ kind, limit }: Policy['overlap']): string {
  const words: Readonly<Record<Policy['overlap']['kind'], string>> = {
    skip: 'skip: what is due while an earlier fire is active is not run',
    queue: 'queue: one waits, others are skipped',
    'queue-all': `queue-all: up to ${formatCount(limit)} wait`,
    allow: `allow: up to ${formatCount(limit)} at a time`,
    replace: 'replace: the active one is cancelled',
  }
  return words[kind]
}

function misfireWords({ late, graceMs, windowMs, limit }: Policy['misfire']): string {
  const what =
    late === 'all' ? `all, up to ${formatCount(limit)}` : late === 'latest' ? 'the latest is run' : 'none is run'
  return `later than ${formatDuration(graceMs)}: ${what}; looks back ${formatDuration(windowMs)}`
}

function retryWords({ attempts, crashes, baseMs, factor, capMs, deadlineMs }: Policy['retry']): string {
  const again =
    attempts === 0
      ? 'none'
      : `${attempts} more, after ${formatDuration(baseMs)} × ${factor} up to ${formatDuration(capMs)}`
  const deadline = deadlineMs === null ? '' : `, within ${formatDuration(deadlineMs)} of the due time`
  return `${again}; after crashes ${crashes} more${deadline}`
}

function timeoutWords({ runMs, graceMs }: Policy['timeout']): string {
  return runMs === null ? 'none' : `${formatDuration(runMs)}, then ${formatDuration(graceMs)} of grace`
}

function limitWords({ job, group }: Policy['limits']): string {
  const words = []
  if (job !== null) words.push(`${counted(job, 'run')} of the job at a time`)
  if (group !== null) words.push(`${formatCount(group.limit)} of group ${group.name}`)
  return words.length === 0 ? 'none' : words.join(', ')
}

function keepBy({ keepMsBy }: Policy['retention']): string {
  const parts = Object.entries(keepMsBy).map(([outcome, ms]) => `${outcome} ${formatDuration(ms)}`)
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}
