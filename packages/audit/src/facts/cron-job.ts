import type { Place } from './place.ts'

/** A setting of a manifest. `unknown`: a template or a condition decides, so it is not missing. */
export type Setting =
  | { readonly state: 'missing' }
  | { readonly state: 'unknown'; readonly line: number }
  | { readonly state: 'literal'; readonly value: string; readonly line: number }

/** A CronJob of Kubernetes, in a plain manifest or a Helm template. */
export interface CronJob {
  readonly kind: 'cron-job'
  /** The line of `schedule`. */
  readonly place: Place
  readonly name: string | null
  readonly apiVersion: Setting
  readonly schedule: Setting
  readonly timeZone: Setting
  readonly concurrencyPolicy: Setting
  readonly startingDeadlineSeconds: Setting
  readonly activeDeadlineSeconds: Setting
  readonly backoffLimit: Setting
  readonly restartPolicy: Setting
  /** Settings of a CronJob that stand where Kubernetes ignores them. */
  readonly misplaced: readonly { readonly key: string; readonly place: Place }[]
  /** `schedule: {{ … }}` without quotes around its output. */
  readonly isUnquotedTemplate: boolean
}
