import type { CronTrigger, EveryTrigger } from 'cronce/cron'
import { monthNames } from './date-words.ts'
import { readFields } from './fields.ts'

const LONGEST = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

/** Why a trigger without a single instant has none. */
export function neverBecause(trigger: CronTrigger | EveryTrigger): string {
  const fields = trigger.kind === 'cron' ? readFields(trigger.normalized) : undefined
  const [earliest] = fields?.dayOfMonth.values ?? []
  if (fields !== undefined && earliest !== undefined && fields.dayOfMonth.specials.length === 0) {
    const months = fields.month.values
    if (months.every((month) => LONGEST[month - 1]! < earliest)) {
      return `${monthNames(months)} ${months.length === 1 ? 'has' : 'have'} no day ${earliest}.`
    }
  }
  return 'No date from 1970 to 2199 satisfies its day, month, weekday and year fields together.'
}
