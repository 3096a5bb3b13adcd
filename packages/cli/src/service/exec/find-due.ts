import { CronceError } from 'cronce'
import { nearestInstant } from 'cronce/internal'
import { formatUtc } from '../../format.ts'
import type { ExecPlan } from './exec-plan.ts'

const MINUTE_MS = 60_000
/** The first minute that Kubernetes could mean is in 2001, and the last one in 2160. */
const K8S_JOB = /-(\d{8,9})$/

/** When the fire is due: as said, as Kubernetes says, or the nearest instant by the store's clock. */
export async function findDue(
  { due, trigger, toleranceMs }: Pick<ExecPlan, 'due' | 'trigger' | 'toleranceMs'>,
  { CRONCE_K8S_JOB: job }: { readonly CRONCE_K8S_JOB?: string | undefined },
  storeNow: () => Promise<number>,
): Promise<number | string> {
  if (due !== null) return /^\d{11,15}$/.test(due) ? Number(due) : due
  const minutes = K8S_JOB.exec(job ?? '')?.[1]
  if (minutes !== undefined) return Number(minutes) * MINUTE_MS
  if (trigger === null) {
    throw new CronceError('DUE_UNKNOWN', 'Nobody says which instant is due.', {
      hint: 'Add --cron with the expression of the crontab line, or --due with the instant itself.',
    })
  }
  const now = await storeNow()
  const nearest = nearestInstant(trigger, now, toleranceMs)
  if (nearest !== null) return nearest.dueAt
  throw new CronceError('DUE_UNKNOWN', `No instant of --cron is near enough to ${formatUtc(now)}, the store's time.`, {
    hint: `Start it when it is due, raise --tolerance (${toleranceMs / 1_000}s), or name the instant with --due.`,
  })
}
