import type { InstanceRecord } from '../model/instance.ts'
import type { Instant, ScheduleState } from '../model/schedule.ts'

// When an app gives up the names of its schedules to another app that declares them. See docs/architecture.md, "Apps".

const DAY_MS = 86_400_000

/** What the taker knows about the app that declared a schedule. */
export interface Owner {
  readonly app: string
  /** It has had no live instance for the hold-down. */
  readonly isGone: boolean
  /** The taker's code says that it was this app before. */
  readonly isPredecessor: boolean
  /** Its live and draining instances that declare something, listed after its record was read. */
  readonly instances: readonly Pick<InstanceRecord, 'jobs'>[]
}

/** Whether the name of a schedule is free for another app. */
export function isYielded({ id, source, retiredAt, retirements }: ScheduleState, owner: Owner): boolean {
  if (source.kind !== 'code' || source.app !== owner.app) return false
  if (owner.isGone && owner.instances.length === 0) return true
  if (owner.isPredecessor && !owner.instances.some(({ jobs }) => jobs.includes(id))) return true
  // An old name of a renamed job stays with it: what waits under that name still runs.
  return retiredAt !== null && retirements?.at(-1)?.renamedTo === undefined
}

/** Processes that only call `runDue` come and go: their app counts as gone a day after the last call. */
export function mayReturn(ended: readonly Pick<InstanceRecord, 'transient' | 'renewedAt'>[], now: Instant): boolean {
  return ended.some(({ transient, renewedAt }) => transient === true && now - renewedAt < DAY_MS)
}
