import type { Place } from './place.ts'

/** A script adds lines to a crontab that it keeps. */
export interface CrontabAppend {
  readonly kind: 'crontab-append'
  readonly place: Place
  /** The script looks for the line, removes it, or empties the crontab before. */
  readonly isChecked: boolean
  /** In words: `the crontab`, `/etc/crontab`. */
  readonly target: string
}
