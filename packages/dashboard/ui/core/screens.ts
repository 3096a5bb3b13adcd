import type { IconName } from '../parts/icons.tsx'
import { can } from './session.ts'

export interface Screen {
  readonly path: string
  readonly title: string
  readonly icon: IconName
  /** The key behind `g`. */
  readonly key: string
  /** The operation without which there is nothing to show. */
  readonly needs?: string
}

const SCREENS: readonly Screen[] = [
  { path: '', title: 'Overview', icon: 'overview', key: 'o' },
  { path: 'schedules', title: 'Schedules', icon: 'schedules', key: 's' },
  { path: 'fires', title: 'Fires', icon: 'fires', key: 'i' },
  { path: 'timeline', title: 'Timeline', icon: 'timeline', key: 't' },
  { path: 'calendar', title: 'Calendar', icon: 'calendar', key: 'c', needs: 'getCalendar' },
  { path: 'fleet', title: 'Fleet', icon: 'fleet', key: 'f' },
  { path: 'alerts', title: 'Alerts', icon: 'alerts', key: 'a', needs: 'listAlerts' },
  { path: 'activity', title: 'Activity', icon: 'activity', key: 'y', needs: 'listActivity' },
  { path: 'audit', title: 'Audit', icon: 'audit', key: 'u' },
]

/** Those that the server offers to this user. */
export function screens(): readonly Screen[] {
  return SCREENS.filter(({ needs }) => needs === undefined || can(needs))
}
