/** The published entry `cronce/check-in`. */
export type { CheckIn, CheckInEnd, CheckInRun, CheckInUrl } from './check-in/check-in.ts'
export { type SentryLike, type SentryOptions, sentry } from './check-in/sentry.ts'
