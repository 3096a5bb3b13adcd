import type { Problem } from '../../model/alert.ts'
import type { FleetFacts, FleetInstance } from './facts.ts'
import type { ThresholdOf } from './thresholds.ts'

/** The clock of a machine differs from the store's. */
export function clock({ app, instances }: FleetFacts, { offsetMs, afterMs }: ThresholdOf<'clock'>): Problem[] {
  const off = skewed(
    instances.filter((instance) => instance.app === app),
    offsetMs,
  )
  const hosts = new Map(off.map(({ host, clockOffsetMs }) => [host, Math.round(clockOffsetMs)]))
  return [...hosts].map(([subject, ms]) => ({
    rule: 'clock',
    subject,
    text: `its clock is ${ms} ms off the clock of the store`,
    holdMs: afterMs,
  }))
}

export function skewed<Instance extends Pick<FleetInstance, 'clockOffsetMs'>>(
  instances: readonly Instance[],
  offsetMs: number,
): readonly Instance[] {
  return instances.filter(({ clockOffsetMs }) => Math.abs(clockOffsetMs) > offsetMs)
}
