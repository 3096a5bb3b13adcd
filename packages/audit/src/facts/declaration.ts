import type { Place } from './place.ts'

/** A process type of a Procfile. */
export interface ProcessType {
  readonly kind: 'process-type'
  readonly place: Place
  readonly name: string
  readonly command: string
}
