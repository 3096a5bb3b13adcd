import type { InstanceLoad } from '../engine/instance.ts'
import type { Meter } from '../engine/parts.ts'
import type { Emitter } from './emitter.ts'

/** What can be measured of an app besides its events. */
export interface Gauges {
  /** To be added to and removed from, at any time. */
  readonly meters: Meter[]
  /** Calls this with events that are made anyway: a plain success makes none for it, and goes to the meters. Returns how to stop. */
  readonly observe: Emitter['observe']
  /** `null`: no instance of it runs in this process. */
  readonly load: () => InstanceLoad | null
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
