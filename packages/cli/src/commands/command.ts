import type { Args, Flags } from '../args.ts'
import type { Io } from '../print.ts'

export interface Command {
  readonly name: string
  /** What follows the name, such as `"<expression>"`. */
  readonly operands: string
  readonly summary: string
  readonly examples: readonly (readonly [command: string, does: string])[]
  /** A paragraph for the help, where the flags do not say it all. */
  readonly about?: string
  readonly flags: Flags
  /** Returns the exit code: at once, unless it has to ask somebody. */
  readonly run: (args: Args, io: Io) => number | Promise<number>
}
