import type { InstanceLoad } from '../engine/instance.ts'
import type { Meter } from '../engine/parts.ts'
import type { Emitter } from './emitter.ts'

/** Figures of an app that its events do not contain. */
export interface Gauges {
  /** Meters may be added and removed at any time. */
  readonly meters: Meter[]
  /**
   * Calls this with events that are created anyway: a plain success creates none, and is only counted by the meters. Returns how
   * to stop.
   */
  readonly observe: Emitter['observe']
  /** `null`: no instance of this app runs in this process. */
  readonly load: () => InstanceLoad | null
  /** The name of a job without the host or label that its schedule belongs to. */
  readonly plainName: (job: string) => string
}

/** A property, so that copies and wrappers of an app have it. Not part of its type: only `cronce/metrics` and `cronce/otel` use it. */
const GAUGES = Symbol('gauges')

export function rememberGauges(app: object, gauges: Gauges): void {
  Object.assign(app, { [GAUGES]: gauges })
}

/** `undefined`: it is not an app of this library. */
export function gaugesOf(app: object): Gauges | undefined {
  return (app as { readonly [GAUGES]?: Gauges })[GAUGES]
}
