import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'
/** Times are shown in the zone of the schedule, in the user's own, or in UTC. */
export type ZoneMode = 'schedule' | 'mine' | 'utc'

export const theme = signal<Theme>((localStorage.getItem('cronce-theme') as Theme | null) ?? 'system')
export const zoneMode = signal<ZoneMode>((localStorage.getItem('cronce-zone') as ZoneMode | null) ?? 'schedule')
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

effect(() => {
  localStorage.setItem('cronce-theme', theme.value)
  if (theme.value === 'system') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.setAttribute('data-theme', theme.value)
})
effect(() => localStorage.setItem('cronce-zone', zoneMode.value))

/** The zone to show a time in, for a schedule that thinks in `tz`. */
export function shownZone(tz: string | undefined): string {
  if (zoneMode.value === 'utc') return 'UTC'
  return zoneMode.value === 'mine' ? ownZone : (tz ?? ownZone)
}
