import type { InstanceRecord } from '../../model/instance.ts'
import type { Chores } from '../../store/store.ts'

/** What this instance knows of the fleet, as of its last heartbeat. Written in this folder, read everywhere. */
export interface FleetState {
  /** The id of this incarnation. */
  instance: string
  /** Live or draining, this instance included. */
  peers: readonly InstanceRecord[]
  /** When the heartbeat that listed `peers` was sent, by the monotonic clock. */
  listedAt: number
  chores: Chores
  /** An operator drains this instance, so it takes nothing new. */
  drained: boolean
  /** The epoch at whose beginning the store had lost what it had acknowledged here; 0: none yet. */
  lostIn: number
}

export function fleetState(instance: string): FleetState {
  const chores = { appVersion: 0, orphans: [], prunable: false }
  return { instance, peers: [], listedAt: Number.NEGATIVE_INFINITY, chores, drained: false, lostIn: 0 }
}
