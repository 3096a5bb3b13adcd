import type { Place } from './place.ts'

/** A route that a platform calls by schedule. */
export interface CronRoute {
  readonly kind: 'cron-route'
  readonly place: Place
  /** `unknown`: something is checked that could not be resolved. */
  readonly secret: 'checked' | 'missing' | 'unknown'
  /** Where the secret can be undefined, or is written in the source. */
  readonly weakness: {
    readonly place: Place
    readonly kind: 'undefined' | 'literal' | 'optional'
    readonly name: string
  } | null
  /** The handler changes or sends something. */
  readonly hasEffect: boolean
}
