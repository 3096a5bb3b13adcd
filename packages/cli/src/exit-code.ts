import { type CronceError, CronError } from 'cronce/cron'

/** What scripts branch on. `exec` ends with the code of its command instead. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  /** It made sense, and was refused: a precondition does not hold, or nobody confirmed it. */
  refused: 4,
  unreachable: 5,
  /** `run --wait`: the run failed. */
  runFailed: 20,
  interrupted: 130,
} as const

const USAGE =
  /^(USAGE|NAME_(INVALID|RESERVED)|INPUT_(INVALID|TOO_LARGE)|CURSOR_INVALID|DURATION_INVALID|HANDLER_MISSING|JOB_EXISTS|JOBS_INVALID)$|^OPTION_|^CONFIG_|^STORE_(MISSING|INVALID|UNKNOWN|OPTIONS_INVALID|DRIVER_MISSING)$|^(RANGE_EMPTY|TRIGGER_MISSING|INSTANT_UNKNOWN)$/
// All that may pass by itself, as to be tried again: an exported CronJob repeats its pod for this code, and for no other of ours.
const UNREACHABLE =
  /^STORE_(UNREACHABLE|FAILED|SILENT|LOST|CLOSED|TIMEOUT|BUSY|CONFLICT|FULL|FULL_OF_CONNECTIONS|NOT_REPLICATED|FORBIDDEN)$/
const REFUSED =
  /^(SCHEDULE|FIRE|RUN|STEP|QUEUE|SKIPS|BACKFILLS?|NEXT|INSTANT|DEPLOYMENT)_|^(CONTENTION|CONFIRMATION_NEEDED|FILE_EXISTS|DUE_UNKNOWN|LISTEN_UNPROTECTED)$|^STORE_(CANNOT_TRANSACT|CANNOT_ADOPT|COPIED|LINKED|ON_NETWORK|EPHEMERAL|NO_LOG|READONLY|SCHEMA_NEWER|NOT_MIGRATED|UNSUPPORTED)$/

/** One table for all commands, by the code of the error. */
export function exitCodeOf(error: CronceError): number {
  const { code } = error
  if (error instanceof CronError || USAGE.test(code)) return EXIT.usage
  if (code.endsWith('_NOT_FOUND')) return EXIT.notFound
  if (UNREACHABLE.test(code)) return EXIT.unreachable
  return REFUSED.test(code) ? EXIT.refused : EXIT.failed
}
