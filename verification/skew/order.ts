/** The component that ensures that a slot runs once. */
export const SYSTEMS = ['lock', 'coordinator', 'jobs'] as const

export type System = (typeof SYSTEMS)[number]

export const SYSTEM_NAMES: Readonly<Record<System, string>> = {
  lock: 'node-cron with SET NX PX, freed at the end',
  coordinator: "node-cron with cronce's coordinator",
  jobs: 'cronce jobs',
}

/** The command-line argument of a process. */
export interface Order {
  readonly system: System
  readonly redis: string
}

/** Messages of a process: it is ready, or the task has started. */
export type Message = { readonly type: 'ready' } | { readonly type: 'run'; readonly slot: number }

export const TASK = 'five-ms'
export const EVERY_SECOND = '* * * * * *'
export const WORK_MS = 5
