import { CronceError } from '../errors.ts'
import { type CheckIn, CheckInIds } from './check-in.ts'

/** The part of `@sentry/node` that is used. */
export interface SentryLike {
  captureCheckIn(
    checkIn: {
      readonly monitorSlug: string
      readonly status: 'in_progress' | 'ok' | 'error'
      readonly checkInId?: string
      /** In seconds. */
      readonly duration?: number
    },
    monitorConfig?: never,
  ): string
}

/** Options of `sentry()`. */
export interface SentryOptions {
  /** The slug of the monitor. */
  readonly slug: string
  /** Sentry's `monitorConfig`: with it, Sentry creates or updates the monitor. @default none */
  readonly monitorConfig?: unknown
}

/**
 * Check-ins of Sentry Crons for a job: in progress, ok, error, with the duration.
 *
 * @example
 * app.job('billing', { cron: '0 3 * * *', checkIn: sentry(Sentry, { slug: 'billing' }) }, bill)
 */
export function sentry(client: SentryLike, { slug, monitorConfig }: SentryOptions): CheckIn {
  if (typeof client?.captureCheckIn !== 'function' || typeof slug !== 'string' || slug === '') {
    throw new CronceError('OPTION_INVALID', 'sentry() needs a client with captureCheckIn, and the slug of a monitor.', {
      hint: "Write sentry(Sentry, { slug: 'billing' }) with import * as Sentry from '@sentry/node'.",
    })
  }
  const ids = new CheckInIds()
  return {
    started(run) {
      ids.add(run, client.captureCheckIn({ monitorSlug: slug, status: 'in_progress' }, monitorConfig as never))
    },
    ended(run, { outcome, durationMs }) {
      const checkInId = ids.take(run)
      // The fire is run again, with a check-in of its own; Sentry has no word for a run that was given up.
      if (outcome === 'interrupted') return
      const status = outcome === 'succeeded' ? 'ok' : 'error'
      const duration = durationMs / 1_000
      client.captureCheckIn({ monitorSlug: slug, status, duration, ...(checkInId === undefined ? {} : { checkInId }) })
    },
  }
}
