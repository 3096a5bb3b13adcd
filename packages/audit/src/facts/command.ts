import type { Place } from './place.ts'

/** A command that a deployment starts: a process type, the command of a container, a line of a start script. */
export interface Command {
  readonly kind: 'command'
  readonly place: Place
  readonly words: readonly string[]
}
