import { setTimeout as sleep } from 'node:timers/promises'
import { countOthers, namesOf } from '../shared/audit.ts'
import { ACQUAINT_MS } from '../shared/fleet.ts'
import type { Start } from '../shared/protocol.ts'
import { firstStarts, type Late, lateOf } from '../shared/starts.ts'
import { type FleetOptions, withFleet } from './fleet.ts'
import { withServer } from './server.ts'

/** Every fire of a steady load, from the first to the last, in the hands of its handler and on record. */
export interface SteadyAudit extends Late {
  readonly options: FleetOptions
  readonly perSecond: number
  readonly seconds: number
  readonly fires: number
  /** As succeeded. */
  readonly onRecord: number
  /** Recorded with the reason for which they were not run: an overloaded system skips, and reports it. */
  readonly passedOver: number
  readonly reasons: string
  readonly faults: readonly string[]
}

const INTERVAL_MS = 1_000
const PATIENCE_MS = 3_000

export function measureAudit(options: FleetOptions, perSecond: number, seconds: number): Promise<SteadyAudit> {
  return withServer('everysec', (server) =>
    withFleet(server, options, async (fleet) => {
      await fleet.create({ kind: 'steady', count: perSecond })
      await fleet.start()
      await sleep(ACQUAINT_MS)
      const from = Date.now()
      await sleep(seconds * 1000)
      const to = Date.now()
      // Fires that were due by then may end until now; later ones may be handed back by a stopping instance.
      await sleep(PATIENCE_MS)
      await fleet.stop()
      const starts = (await fleet.collect()).flat().filter(([, dueAt]) => dueAt < to)
      const audited = await fleet.first.ask({ do: 'audit', before: to }, 'audited')
      const firsts = firstStarts(starts)
      const missing = missingOf(firsts, perSecond, from, to)
      const explained = countOthers(audited)
      const faults: string[] = []
      const vanished = firsts.length + missing - audited.succeeded - explained
      if (vanished > 0) faults.push(`${vanished} fires are not on record`)
      if (starts.length > firsts.length) faults.push(`${starts.length - firsts.length} runs too many`)
      if (audited.succeeded !== firsts.length)
        faults.push(`${firsts.length} fires ran, but ${audited.succeeded} are on record as succeeded`)
      return {
        options,
        perSecond,
        seconds,
        fires: firsts.length,
        onRecord: audited.succeeded,
        passedOver: explained,
        reasons: namesOf(audited),
        ...lateOf(firsts.filter(([, dueAt]) => dueAt >= from && dueAt < to)),
        faults,
      }
    }),
  )
}

/** Instants at which nothing ran: between the first run of a schedule and its last, and within the time looked at. */
function missingOf(starts: readonly Start[], perSecond: number, from: number, to: number): number {
  const instants = new Map<number, number[]>()
  for (const [number, dueAt] of starts) {
    const known = instants.get(number)
    if (known === undefined) instants.set(number, [dueAt])
    else known.push(dueAt)
  }
  const between = (earlier: number, later: number) => Math.max(0, Math.ceil((later - earlier) / INTERVAL_MS) - 1)
  // A schedule that never ran has missed all of them.
  let missing = (perSecond - instants.size) * between(from, to)
  for (const all of instants.values()) {
    const first = Math.min(...all)
    const last = Math.max(...all)
    missing += (last - first) / INTERVAL_MS + 1 - all.length + between(from, first) + between(last, to)
  }
  return missing
}
