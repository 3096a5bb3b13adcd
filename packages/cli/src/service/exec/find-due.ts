import { CronceError } from 'cronce/cron'
import { nearestInstant } from 'cronce/internal'
import { formatUtc } from '../../format.ts'
import type { ExecPlan } from './exec-plan.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** The first minute that Kubernetes could mean is in 2001, and the last one in 2160. */
const K8S_JOB = /-(\d{8,9})$/

export interface DueQuestion extends Pick<ExecPlan, 'due' | 'trigger' | 'toleranceMs' | 'zone'> {
  /** The Job's name, of Kubernetes. */
  readonly job: string | undefined
}

/** Whether an option says what is due. Refused before anything is opened or created. */
export function demandDue({ due, trigger, job }: DueQuestion): void {
  if (due !== null || trigger !== null || minutesOf(job) !== undefined) return
  throw new CronceError('DUE_UNKNOWN', 'It is not known which due time this call is for.', {
    hint: 'Add --cron with the expression of the crontab line, or --due with the instant itself.',
  })
}

/** When the fire is due: as said, as Kubernetes says, or the nearest instant by the store's clock. */
export function findDue(question: DueQuestion, now: number): number {
  demandDue(question)
  const { due, trigger, toleranceMs, zone, job } = question
  if (due !== null) return due
  const minutes = minutesOf(job)
  if (minutes !== undefined) return Number(minutes) * MINUTE_MS
  const nearest = nearestInstant(trigger!, now, toleranceMs)
  if (nearest !== null) return nearest.dueAt
  const message = `No instant of --cron, read in the zone ${zone}, is near enough to ${formatUtc(now)}, the store's time.`
  throw new CronceError('DUE_UNKNOWN', message, {
    hint: `Name the zone that cron has with --tz, start it when it is due, raise --tolerance (${toleranceMs / 1_000}s), or name the instant with --due.`,
  })
}

/** What a schedule that is yet to be made would refuse: then it need not be made. */
export function demandNear(dueAt: number, now: number): void {
  const due = new Date(dueAt).toISOString()
  if (dueAt > now + MINUTE_MS) {
    throw new CronceError('FIRE_EARLY', `${due} is more than a minute ahead of the store's clock.`, {
      hint: 'Start it when it is due.',
    })
  }
  if (dueAt >= now - DAY_MS) return
  throw new CronceError('FIRE_TOO_OLD', `${due} is more than a day ago: it may have been run, and be off the record.`, {
    hint: 'Run the command by itself, without cronce exec.',
  })
}

function minutesOf(job: string | undefined): string | undefined {
  return K8S_JOB.exec(job ?? '')?.[1]
}
