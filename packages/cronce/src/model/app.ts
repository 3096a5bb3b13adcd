import type { Instant } from './schedule.ts'

/** Which deployment of an app counts. Changed by compare-and-set on `version`, 0 when there is none yet. */
export interface AppRecord {
  readonly name: string
  readonly version: number
  /** Moves up whenever another deployment becomes active: what declarations are written under. */
  readonly term: number
  readonly active: string | null
  /** Since when no instance of the active one has been ready. */
  readonly activeGoneAt: Instant | null
  readonly deployments: readonly DeploymentRecord[]
}

export interface DeploymentRecord {
  readonly id: string
  readonly number: number
  readonly firstReadyAt: Instant
  readonly lastReadyAt: Instant
}
