import type { InstanceLoad } from '../engine/instance.ts'
import type { Meter } from '../engine/parts.ts'

/** What can be measured of an app besides its events. */
export interface Gauges {
  /** To be added to and removed from, at any time. */
  readonly meters: Meter[]
  /** `null`: no instance of it runs in this process. */
  readonly load: () => InstanceLoad | null
}

const gaugesOfApps = new WeakMap<object, Gauges>()

/** For `cronce/metrics` and `cronce/otel`: the app itself offers no more than its users need. */
export function rememberGauges(app: object, gauges: Gauges): void {
  gaugesOfApps.set(app, gauges)
}

/** `undefined`: it is no app of this library. */
export function gaugesOf(app: object): Gauges | undefined {
  return gaugesOfApps.get(app)
}
