import type { CronceEvent } from 'cronce'

/** What a process of the demo is started with. */
export interface Order {
  readonly slot: string
  readonly file: string
  readonly witness: string
  readonly leaseMs: number
  readonly deployment: string
  /** Of the schedules of the story only the one that is killed and paused, less often. */
  readonly isEncore: boolean
  /** From when on the broken job of the shop fails; `null`: without the shop. */
  readonly brokenFrom: number | null
}

/** Events of a live process. They prove nothing: the ledger is made from the witnesses and the store. */
export type Message = CronceEvent | Refused

/** A handler that wanted to write was not let. */
export interface Refused {
  readonly type: 'demo.refused'
  readonly schedule: string
  readonly dueAt: number
  readonly code: string
}
