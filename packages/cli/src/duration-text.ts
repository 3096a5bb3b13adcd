import { CronceError, every } from 'cronce/cron'
import { UsageError } from './usage-error.ts'

/** Milliseconds of `90s`, `1h30m`, `500` (milliseconds); `null` if it is not a duration. */
export function parseDurationText(text: string): number | null {
  const plain = /^\d{1,12}$/.test(text)
  if (plain) return Number(text)
  try {
    return every(text).everyMs
  } catch (error) {
    if (error instanceof CronceError) return null
    throw error
  }
}

/** The same for a flag. */
export function readDurationText(text: string, flag: string): number {
  const ms = parseDurationText(text)
  if (ms !== null) return ms
  throw new UsageError(`--${flag} cannot be "${text}".`, 'Write a duration such as 90s, 15m, 1h30m or 2d.')
}
