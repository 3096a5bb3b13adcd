import type { InstanceRecord, InstanceState } from '../../model/instance.ts'
import type { Instant } from '../../model/schedule.ts'
import type { Beat, BeatAnswer } from '../store.ts'
import type { StoreMoment } from './rows.ts'

/** The row of a statement. `record`: what the instance reported about itself. */
interface InstanceRow {
  readonly id: string
  readonly state: InstanceState
  readonly drain: boolean
  readonly renewals: number
  readonly startedAt: Instant
  readonly endedAt: Instant | null
  readonly renewedAt: Instant
  readonly expired: boolean
  readonly record: Omit<Beat['instance'], 'id' | 'state'>
}

export interface InstancesAnswer extends StoreMoment {
  readonly instances: readonly InstanceRow[]
}

export interface BeatRow extends InstancesAnswer, Pick<BeatAnswer, 'alive' | 'number' | 'held' | 'chores'> {}

/** `session`: whether it has the session by which peers notice its death; `null`: it works without. */
export function beatValue(
  { instance, join, leaseMs, sequence }: Beat,
  session: boolean | null,
  notification: { readonly channel: string; readonly payload: string } | null,
): string {
  const { id, state, ...described } = instance
  const { app } = described
  return JSON.stringify({
    ...{ id, state, app, joins: join, session, lease_ms: leaseMs },
    ...sequence,
    ...(notification !== null && { channel: notification.channel, payload: notification.payload }),
    record: JSON.stringify(described),
  })
}

export function instanceOf({ record, ...row }: InstanceRow): InstanceRecord {
  return { ...record, ...row }
}
