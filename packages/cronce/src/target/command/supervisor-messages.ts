import type { LeaseDeadline } from '../lease-deadline.ts'
import type { Earlier } from './process-tree.ts'

/** The command that the supervisor starts. */
export interface SupervisedCommand extends Earlier {
  readonly file: string
  readonly args: readonly string[]
  /** Absolute. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Stands in the environment of the command and of all that it starts, and nowhere else. */
  readonly mark: string
  /** Whether its file descriptor 3 leads to the scheduler. */
  readonly channel: boolean
  /** For what is left when the scheduler has died, and when the command has ended. */
  readonly graceMs: number
}

export type ToSupervisor =
  | { readonly kind: 'start'; readonly command: SupervisedCommand }
  /** SIGTERM to all of it, and SIGKILL to what is left after the grace. */
  | { readonly kind: 'end'; readonly graceMs: number }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  /** By then the command must be gone, unless a later deadline comes before. Without one, only the pipe counts. */
  | { readonly kind: 'lease'; readonly deadline: LeaseDeadline }

export type FromSupervisor =
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'refused'; readonly code: string | null; readonly message: string }
  | ({ readonly kind: 'ended' } & SupervisedEnd)

export interface SupervisedEnd {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** Processes that the command had left behind, and that were ended. */
  readonly leftBehind: number
  /** Processes that not even SIGKILL has ended in time. */
  readonly remaining: number
  /** It was ended, or not even started, since no news of the lease had come. */
  readonly isLeaseLost: boolean
}
