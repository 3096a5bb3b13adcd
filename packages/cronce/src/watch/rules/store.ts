import type { FleetSubject, Problem } from '../../model/alert.ts'
import type { FleetFacts } from './facts.ts'
import { roughly } from './figures.ts'
import type { ThresholdOf } from './thresholds.ts'

/** How long something that is over is still reported: until then the message about it has gone out. */
const REPORTED_MS = 10 * 60_000

/** Warnings of a store by which acknowledged writes may be lost, or fires may run twice. */
const UNSAFE = ['STORE_SETTING_UNSAFE', 'STORE_ON_NETWORK', 'STORE_PROMOTED', 'STORE_MACHINE_CHANGED'] as const

/** The store is slow, unsafe, was away, went back in time, or does not keep up with pruning. */
export function store({ now, store: facts }: FleetFacts, threshold: ThresholdOf<'store'>): Problem[] {
  const { latencyMs, away, rolledBackAt, prunableSince, warnings } = facts
  const found: Problem[] = []
  const add = (subject: FleetSubject, text: string): void => {
    found.push({ rule: 'store', subject, text })
  }
  if (latencyMs !== null && latencyMs > threshold.latencyMs) add('latency', `a call takes ${roughly(latencyMs)}`)
  if (away !== null && away.ms > threshold.awayMs && now - away.endedAt <= REPORTED_MS) {
    add('outage', `it did not answer for ${roughly(away.ms)}`)
  }
  if (rolledBackAt !== null && now - rolledBackAt <= REPORTED_MS) {
    add('rollback', 'it went back in time: look for fires that may have run twice')
  }
  if (prunableSince !== null && now - prunableSince > threshold.pruneMs) {
    add('retention', `pruning has not caught up for ${roughly(now - prunableSince)}`)
  }
  for (const code of UNSAFE) if (warnings.has(code)) add(code, warnings.get(code)!)
  return found
}
