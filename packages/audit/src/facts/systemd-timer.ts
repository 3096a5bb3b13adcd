import type { Place } from './place.ts'

/** A timer of systemd, with the values that systemd really uses. */
export interface SystemdTimer {
  readonly kind: 'systemd-timer'
  /** The first line that says when. */
  readonly place: Place
  readonly calendars: readonly Calendar[]
  readonly isPersistent: boolean
  /** Settings that systemd ignores, each with the reason. */
  readonly ignored: readonly { readonly key: string; readonly place: Place; readonly reason: string }[]
}

/** An `OnCalendar=` line. */
export interface Calendar {
  readonly text: string
  readonly place: Place
  /** It fires on every day. */
  readonly isEveryDay: boolean
  /** It fires at most once a day. */
  readonly isDailyOrRarer: boolean
}
