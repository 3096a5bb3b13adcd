import type { Place } from './place.ts'

/** A workflow of GitHub Actions that runs on a schedule. */
export interface Workflow {
  readonly kind: 'workflow'
  /** The line of `schedule`. */
  readonly place: Place
  /** Whether the workflow or a job of it has `concurrency`. */
  readonly hasConcurrency: boolean
}
