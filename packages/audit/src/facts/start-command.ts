import type { Place } from './place.ts'

/** What an image starts. */
export interface StartCommand {
  readonly kind: 'start-command'
  readonly place: Place
  readonly text: string
  /** Docker starts a shell, which starts the command. */
  readonly isShellForm: boolean
}
