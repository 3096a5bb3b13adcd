import type { JobRecord } from './imported.ts'
import type { Manifest } from './k8s-documents.ts'

/** What Kubernetes does where nothing is said. */
const BACKOFF_LIMIT = 6
const SUCCEEDED_KEPT = 3
const FAILED_KEPT = 1

const OVERLAPS: Readonly<Record<string, string>> = { Allow: 'allow', Forbid: 'skip', Replace: 'replace' }

/** The default misfire window, in seconds: saying it again would be noise. */
const WINDOW_SECONDS = 86_400
const GRACE_SECONDS = 10

/**
 * The policies of a CronJob. With `isOurs` it was written by `cronce export`: then attempts and timeout were told to
 * `cronce exec`, and what stands here is the frame around it.
 */
export function readPolicies(spec: Manifest, { isOurs }: { isOurs: boolean }): JobRecord {
  const job = spec.at('jobTemplate', 'spec')
  const pod = job.at('template', 'spec')
  const overlap = OVERLAPS[spec.at('concurrencyPolicy').text ?? 'Allow'] ?? 'allow'
  const deadline = spec.at('startingDeadlineSeconds').number
  const limits = [job, pod].flatMap((part) => part.at('activeDeadlineSeconds').number ?? [])
  const timeout = limits.length === 0 || isOurs ? undefined : Math.min(...limits)
  const backoff = job.at('backoffLimit').number ?? BACKOFF_LIMIT
  return {
    // Skipping is what jobs do by default.
    ...(overlap === 'skip' ? {} : { overlap }),
    ...readMisfire(deadline),
    ...(isOurs ? readCrashes(backoff) : readRetry(backoff, timeout)),
    ...(timeout === undefined ? {} : { timeout: seconds(timeout) }),
    ...readRetention(spec),
  }
}

/** Kubernetes starts the latest of what it missed, if that is not older than the deadline. */
function readMisfire(deadline: number | undefined): Pick<JobRecord, 'misfire'> {
  if (deadline === undefined || deadline === WINDOW_SECONDS) return {}
  if (deadline === GRACE_SECONDS) return { misfire: 'skip' }
  if (deadline < GRACE_SECONDS) return { misfire: { late: 'skip', grace: seconds(deadline) } }
  return { misfire: { late: 'latest', window: seconds(deadline) } }
}

/** Ten seconds, doubled each time, up to six minutes. All of it within the time that the Job has. */
function readRetry(attempts: number, timeout: number | undefined): Pick<JobRecord, 'retry'> {
  if (attempts === 0) return {}
  return {
    retry: {
      attempts: Math.min(attempts, 1_000),
      backoff: { base: '10s', cap: '6m' },
      deadline: timeout === undefined ? '1d' : seconds(timeout),
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
