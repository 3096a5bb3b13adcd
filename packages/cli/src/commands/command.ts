import type { Args, Flags } from '../args.ts'
import type { Io } from '../io.ts'

export interface Command {
  /** What follows the name, such as `"<expression>"`. */
  readonly operands: string
  readonly examples: readonly (readonly [command: string, does: string])[]
  /** A paragraph for the help, where the flags do not say it all. */
  readonly about?: string
  readonly flags: Flags
  /** Returns the exit code. */
  readonly run: (args: Args, io: Io) => number | Promise<number>
}

/** A line of the table of commands: what is known of a command before its code is read. */
export interface Entry {
  readonly name: string
  readonly group: Group
  /** One sentence without its full stop. */
  readonly summary: string
  readonly aliases?: readonly string[]
  /** Not in the help. */
  readonly hidden?: boolean
  /** Only the code of the command that is wanted is read. */
  readonly load: () => Promise<Command>
}

export const GROUPS = {
  run: 'Run jobs',
  see: 'See what happens',
  steer: 'Steer it',
  operate: 'Operate a store',
  offline: 'Without a store',
} as const

export type Group = keyof typeof GROUPS
