import { FIRST_YEAR } from './calendar.ts'
import { type CronSet, DAYS_AND, DAYS_OPEN, MONTHS, WEEKDAYS, WEEKDAYS_AT, WEEKDAYS_OPEN } from './cron-set.ts'
import type { CronFields } from './trigger.ts'

/** The values behind the bits. */
export function fieldsOf(set: CronSet): CronFields {
  const { rules, rare } = set
  return {
    seconds: [...valuesOf(set.secondsLow, 0), ...valuesOf(set.secondsHigh, 30)],
    minutes: [...valuesOf(set.minutesLow, 0), ...valuesOf(set.minutesHigh, 30)],
    hours: valuesOf(set.hours, 0),
    days: { open: (rules & DAYS_OPEN) !== 0, values: valuesOf(set.days, 1), specials: rare?.days ?? [] },
    months: valuesOf(rules & MONTHS, 1),
    weekdays: {
      open: (rules & WEEKDAYS_OPEN) !== 0,
      values: valuesOf((rules >>> WEEKDAYS_AT) & WEEKDAYS, 0),
      specials: rare?.weekdays ?? [],
    },
    years: rare?.years == null ? null : yearsOf(rare.years),
    daysAnd: (rules & DAYS_AND) !== 0,
  }
}

function yearsOf(years: string): number[] {
  return Array.from(years, (year, index) => (year === '1' ? FIRST_YEAR + index : 0)).filter((year) => year !== 0)
}

function valuesOf(bits: number, first: number): number[] {
  const values: number[] = []
  for (let bit = 0; bit < 31; bit++) if ((bits >>> bit) & 1) values.push(first + bit)
  return values
}
