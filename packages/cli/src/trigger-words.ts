import type { CronData, TriggerData } from 'cronce/cron'
import { trigger as makeTrigger } from 'cronce/cron'
import { formatDuration, formatLocal, precisionFor } from './format.ts'
import { words } from './words.ts'
import { isUtc } from './zone.ts'

/** When a schedule is due, in words for people. */
export function triggerWords(data: TriggerData | null, tz = 'UTC'): string {
  if (data === null) return 'When triggered'
  const trigger = makeTrigger(data)
  switch (trigger.kind) {
    case 'every':
      return `Every ${formatDuration(trigger.everyMs)}`
    case 'at':
      return `Once, ${formatLocal(trigger.at, tz, precisionFor([trigger.at], tz))}`
    case 'cron': {
      if (trigger.timing === 'event') return 'When a process starts'
      const when = isUtc(trigger.tz) ? words(trigger.fields) : `${words(trigger.fields)} (${trigger.tz})`
      return data.kind === 'cron' ? `${when}${calendarWords(data)}` : when
    }
  }
}

const EXCLUDED_WORDS = {
  skip: 'not on closed days',
  'next-working-day': 'moved from closed days to the next open one',
  'previous-working-day': 'moved from closed days to the open one before',
  nearest: 'moved from closed days to the nearest open one',
} as const

/** What a calendar makes of it; empty without one. */
export function calendarWords({ calendar }: Pick<CronData, 'calendar'>): string {
  if (calendar === undefined) return ''
  const by = calendar.name === undefined ? '' : ` of ${calendar.name}`
  return `, ${EXCLUDED_WORDS[calendar.excluded ?? 'skip']}${by}`
}

/** As it was written. */
export function triggerText(data: TriggerData | null): string {
  if (data === null) return '-'
  switch (data.kind) {
    case 'cron':
      return data.expression
    case 'every':
      return `every ${formatDuration(data.everyMs)}`
    case 'at':
      return `at ${new Date(data.at).toISOString()}`
  }
}

/** The zone a schedule thinks in. */
export function triggerZone(data: TriggerData | null): string {
  if (data?.kind !== 'cron') return 'UTC'
  const trigger = makeTrigger(data)
  return trigger.kind === 'cron' ? trigger.tz : 'UTC'
}
