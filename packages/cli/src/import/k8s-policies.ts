import type { JobRecord } from './imported.ts'
import type { Manifest, Report } from './k8s-documents.ts'

/** What Kubernetes does where nothing is said. */
const BACKOFF_LIMIT = 6
const SUCCEEDED_KEPT = 3
const FAILED_KEPT = 1

/** The default misfire window, in seconds: the job need not name it. */
const WINDOW_SECONDS = 86_400
/** The longest window that `misfire` takes. */
const LONGEST_SECONDS = 365 * 86_400
const GRACE_SECONDS = 10

interface Origin {
  /** `cronce export` wrote it: attempts, timeout and overlap were told to `cronce exec`, and these fields are the frame around it. */
  readonly isOurs: boolean
  /** The longest time between two instants of the schedule, in days. */
  readonly gapDays: number
  readonly report: Report
}

/** The policies of a CronJob. */
export function readPolicies(spec: Manifest, origin: Origin): JobRecord {
  const { isOurs } = origin
  const job = spec.at('jobTemplate', 'spec')
  const pod = job.at('template', 'spec')
  const limits = [job, pod].flatMap((part) => part.at('activeDeadlineSeconds').number ?? [])
  const timeout = limits.length === 0 || isOurs ? undefined : Math.min(...limits)
  const backoff = job.at('backoffLimit').number ?? BACKOFF_LIMIT
  const window = readWindow(spec, origin)
  return {
    ...readOverlap(spec, window, origin),
    ...readMisfire(window),
    ...(isOurs ? readCrashes(backoff) : readRetry(spec, backoff, { timeout, window, report: origin.report })),
    ...(timeout === undefined ? {} : { timeout: seconds(timeout) }),
    ...readRetention(spec),
  }
}

/** How late the latest missed time may still start, in seconds. */
function readWindow(spec: Manifest, { gapDays, report }: Origin): number {
  const at = spec.at('startingDeadlineSeconds')
  const { number: deadline } = at
  if (deadline !== undefined && deadline <= LONGEST_SECONDS) return deadline
  const window = deadline === undefined ? Math.min(gapDays * 86_400, LONGEST_SECONDS) : LONGEST_SECONDS
  const text = seconds(window)
  if (deadline !== undefined) {
    const why = `the longest misfire window is ${text}`
    report(at, { level: 'changed', what: `startingDeadlineSeconds: ${deadline}`, why, todo: 'look whether it matters' })
    return window
  }
  const isTooShort = gapDays * 86_400 > window
  const reach = isTooShort
    ? `is the longest, and two times are up to ${gapDays} days apart`
    : 'holds it, since no two times are further apart'
  report(spec, {
    level: 'changed',
    what: 'no startingDeadlineSeconds',
    why: `Kubernetes starts the latest missed time however late; a misfire.window of ${text} ${reach}`,
    todo: isTooShort
      ? `if no instance was up for ${text} after a due time, run it with cronce run`
      : 'set misfire: { window } to give up sooner',
  })
  return window
}

/**
 * With Forbid, Kubernetes starts the latest time that came due meanwhile when the earlier Job ends, if its deadline has not passed:
 * it queues one. `queue` has no deadline, so it fits where the deadline is at least as long as the schedule's longest gap. With a
 * shorter deadline most overlapping times are past it when the earlier Job ends, so `skip` is closer.
 */
function readOverlap(spec: Manifest, window: number, { isOurs, gapDays, report }: Origin): Pick<JobRecord, 'overlap'> {
  const at = spec.at('concurrencyPolicy')
  switch (at.text) {
    case 'Replace':
      return { overlap: 'replace' }
    case 'Forbid':
      if (isOurs) return {}
      if (window >= Math.min(gapDays * 86_400, LONGEST_SECONDS)) return { overlap: 'queue' }
      if (window > GRACE_SECONDS) {
        report(at, {
          level: 'changed',
          what: 'concurrencyPolicy: Forbid',
          why: `when the earlier Job ends, Kubernetes starts a time that came due in the last ${seconds(window)}; overlap 'skip' does not`,
          todo: "write overlap: 'queue' to start it when the earlier run ends, however late",
        })
      }
      // `skip` is the default of jobs.
      return {}
    default:
      return isOurs ? {} : { overlap: 'allow' }
  }
}

/** Kubernetes starts the latest of what it missed, if that is not older than the deadline. */
function readMisfire(window: number): Pick<JobRecord, 'misfire'> {
  if (window === WINDOW_SECONDS) return {}
  if (window === GRACE_SECONDS) return { misfire: 'skip' }
  if (window < GRACE_SECONDS) return { misfire: { late: 'skip', grace: seconds(window) } }
  return { misfire: { late: 'latest', window: seconds(window) } }
}

/**
 * Delays of ten seconds, doubled each time, up to six minutes. All of it within the time that the Job has. Without a deadline,
 * retries have the misfire window, counted from the first run: a window shorter than a day would cut them off.
 */
function readRetry(
  spec: Manifest,
  attempts: number,
  {
    timeout,
    window,
    report,
  }: { readonly timeout: number | undefined; readonly window: number; readonly report: Report },
): Pick<JobRecord, 'retry'> {
  if (attempts === 0) return {}
  const isCutOff = timeout === undefined && window < WINDOW_SECONDS
  const deadline = isCutOff ? WINDOW_SECONDS : timeout
  if (isCutOff) {
    const at = spec.at('startingDeadlineSeconds')
    report(at, {
      level: 'changed',
      what: `retry.deadline: ${seconds(WINDOW_SECONDS)}`,
      why: `startingDeadlineSeconds is about first starts only; without retry.deadline, retries would also end ${seconds(window)} after the due time`,
      todo: 'set a shorter one if a late retry is worse than none',
    })
  }
  return {
    retry: {
      attempts: Math.min(attempts, 1_000),
      backoff: { base: '10s', cap: '6m' },
      ...(deadline === undefined ? {} : { deadline: seconds(deadline) }),
    },
  }
}

const CRASHES = 2

function readCrashes(backoff: number): Pick<JobRecord, 'retry'> {
  return backoff === CRASHES ? {} : { retry: { crashes: Math.min(backoff, 100) } }
}

function readRetention(spec: Manifest): Pick<JobRecord, 'retention'> {
  const succeeded = spec.at('successfulJobsHistoryLimit').number ?? SUCCEEDED_KEPT
  const failed = spec.at('failedJobsHistoryLimit').number ?? FAILED_KEPT
  // So few are the default there because each is an object in the cluster; here they are rows.
  if (succeeded === SUCCEEDED_KEPT && failed === FAILED_KEPT) return {}
  return { retention: { count: Math.min(1_000_000, Math.max(1, succeeded + failed)) } }
}

/** `90s`, `15m`, `2h`: the largest unit that leaves nothing over. */
export function seconds(count: number): string {
  if (count > 0 && count % 86_400 === 0) return `${count / 86_400}d`
  if (count > 0 && count % 3_600 === 0) return `${count / 3_600}h`
  if (count > 0 && count % 60 === 0) return `${count / 60}m`
  return `${count}s`
}
