import { CronceError } from '../errors.ts'

/** Pause between attempts to change a contended schedule: none at first, then growing, since a row may be locked. */
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 250
const TRIES_AT_ONCE = 3

/** Pause before this attempt, counted from zero. */
export function pauseAmong(tries: number, random: () => number): number {
  if (tries < TRIES_AT_ONCE) return 0
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries - TRIES_AT_ONCE, 10))
  return Math.ceil(longest * (0.5 + random() / 2))
}

export function contention(schedule: string, tries: number): CronceError {
  return new CronceError(
    'CONTENTION',
    `Schedule ${JSON.stringify(schedule)} kept changing or stayed locked: gave up after ${tries} tries.`,
    {
      hint: 'Try again. If it persists, find out what changes the schedule so often, or which transaction locks its row.',
    },
  )
}

/** The record of an app changed, so what was decided on it was not written. */
export function appChanged(app: string): CronceError {
  return new CronceError('APP_CHANGED', `The deployments of the app ${JSON.stringify(app)} changed meanwhile.`, {
    hint: 'Decide again.',
  })
}
