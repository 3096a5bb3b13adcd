import type { Place } from './place.ts'

/** Code that handles the end of the process, or errors that nothing else handles. */
export interface ProcessHook {
  readonly kind: 'process-hook'
  readonly place: Place
  readonly hook: 'shutdown' | 'rejection'
}
