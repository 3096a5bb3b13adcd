import type { Place } from './place.ts'

/** A line of a crontab that runs a command. */
export interface CrontabLine {
  readonly kind: 'crontab-line'
  readonly place: Place
  readonly expression: string
  /** With the user column, if the file has one. */
  readonly command: string
  /** The shortest time between two fires within an hour; `null` if it is an hour or more, or not known. */
  readonly minutes: number | null
  /** Something keeps a second run away while one is running. */
  readonly isLocked: boolean
}

/** A crontab as a file: what rules about the whole file ask for. */
export interface CrontabFile {
  readonly kind: 'crontab-file'
  /** The first line that runs a command. */
  readonly place: Place
  /** `system`: with a user column, as in /etc/cron.d. `user`: without one. */
  readonly form: 'system' | 'user' | 'unknown'
  readonly endsWithNewline: boolean
  readonly lastLine: number
}
