import { CronceError } from '../errors.ts'
import { RESERVED_PREFIX } from '../model/exclusive-jobs.ts'
import { LIMITS } from '../model/limits.ts'
import { withArticle } from '../words.ts'
import { show } from './read-option.ts'

/**
 * A name of a schedule, job, group or tenant: it is an identity, so nothing that looks alike but differs. Half characters are
 * refused since all of them become the same one when they are written.
 */
export function readName(what: string, value: unknown, max: number = LIMITS.name): string {
  const problem = problemOf(value, max)
  if (problem === null) return value as string
  throw new CronceError('NAME_INVALID', `${show(value)} can't be the name of ${withArticle(what)}: ${problem}.`, {
    hint: `Use 1 to ${max} characters without control characters, and no space at either end.`,
  })
}

/** The name of a schedule or job that a user defines. Locks, elections and keys are schedules of the library's own. */
export function readOwnName(what: string, value: unknown): string {
  const name = readName(what, value)
  if (!name.startsWith(RESERVED_PREFIX)) return name
  throw new CronceError(
    'NAME_RESERVED',
    `${show(value)} can't be the name of ${withArticle(what)}: cronce uses it itself.`,
    {
      hint: `Use a name that does not begin with "${RESERVED_PREFIX}".`,
    },
  )
}

/** The name of a schedule that an operator may steer. A lock or election that is triggered, paused or retried would wait for an instance for ever. */
export function readSteered(value: unknown): string {
  return demandSteered(readName('schedule', value))
}

export function demandSteered(name: string): string {
  if (!name.startsWith(RESERVED_PREFIX)) return name
  const message = `${show(name)} can't be triggered, paused, skipped, backfilled or retried: cronce uses it itself.`
  throw new CronceError('NAME_RESERVED', message, {
    hint: 'To take a lock or a term from its holder, remove the schedule by force.',
  })
}

function problemOf(value: unknown, max: number): string | null {
  if (typeof value !== 'string') return 'a name is a text'
  if (value === '') return 'it is empty'
  if (value.length > max) return `it has ${value.length} characters`
  if (value.trim() !== value) return 'it begins or ends with a space'
  if (/\p{Cc}/u.test(value)) return 'it contains a control character'
  if (!value.isWellFormed()) return 'it contains half a character'
  return null
}
