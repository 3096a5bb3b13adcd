/** Messages between a test process and the supervisor of one server. */

/** The user a server runs as. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

export interface Command {
  readonly file: string
  readonly args: readonly string[]
}

export type Request =
  /** Make the server's directory. `endSignal` ends the server once its data is no longer needed. */
  | {
      readonly verb: 'open'
      readonly name: string
      readonly account: Account | undefined
      readonly endSignal: NodeJS.Signals
    }
  /** Run a command to its end and answer with its exit code. */
  | { readonly verb: 'run'; readonly command: Command }
  /** Start the server and answer with its process id. */
  | { readonly verb: 'launch'; readonly command: Command }
  /** Signal the server and answer when it has ended. SIGKILL ends its whole process tree at once. */
  | { readonly verb: 'halt'; readonly signal: NodeJS.Signals }

export type Answer = string | number | null

export type ToSupervisor = { readonly id: number; readonly request: Request }

export type FromSupervisor =
  | { readonly type: 'answer'; readonly id: number; readonly value: Answer }
  | { readonly type: 'refusal'; readonly id: number; readonly reason: string }
  | { readonly type: 'exit'; readonly pid: number }
