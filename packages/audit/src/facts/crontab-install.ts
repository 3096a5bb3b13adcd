import type { Place } from './place.ts'

/** An image installs one file as a table of cron.d and as the crontab of a user. */
export interface CrontabInstalledTwice {
  readonly kind: 'crontab-installed-twice'
  readonly place: Place
  readonly file: string
}

/** A script replaces the whole crontab by the lines that it brings. */
export interface CrontabOverwrite {
  readonly kind: 'crontab-overwrite'
  readonly place: Place
}
