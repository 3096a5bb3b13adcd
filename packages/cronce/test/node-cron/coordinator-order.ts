import type { CoordinatorOptions } from '../../src/node-cron.ts'

/** The command line of a process with tasks of the real node-cron; see `coordinator-worker.ts`. */
export interface Order {
  readonly name: string
  readonly store: string
  /** What the tasks write down. */
  readonly witness: string
  readonly tasks: readonly OrderedTask[]
  readonly options?: CoordinatorOptions
}

/** Every second. */
export interface OrderedTask {
  readonly name: string
  readonly isBackground?: boolean
  /** How long it takes. */
  readonly workMs?: number
}

/** What a task wrote down with write(2): it outlives its process, however that ends. In the order of all processes. */
export interface Line {
  readonly what: 'started' | 'ended'
  readonly process: string
  readonly task: string
  readonly slot: number
  readonly token: string | null
}

/** Its messages. */
export type Message =
  | { readonly type: 'ready' }
  | { readonly type: 'skipped'; readonly task: string; readonly reason: string }
  | { readonly type: 'ran'; readonly task: string }
