import { setTimeout as sleep } from 'node:timers/promises'
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
  readonly onRecord: number
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
      // Whatever was due by then has until now to end; what came later may be handed back by who stops.
      await sleep(PATIENCE_MS)
      await fleet.stop()
      const starts = (await fleet.collect()).flat().filter(([, dueAt]) => dueAt < to)
      const { succeeded, others } = await fleet.first.ask({ do: 'audit', before: to }, 'audited')
      const firsts = firstStarts(starts)
      const faults = [...holes(firsts, perSecond, from, to)]
      if (starts.length > firsts.length) faults.push(`${starts.length - firsts.length} runs too many`)
      if (succeeded !== firsts.length || others > 0)
        faults.push(`${firsts.length} fires ran; on record are ${succeeded} that succeeded and ${others} others`)
      return {
        options,
        perSecond,
        seconds,
        fires: firsts.length,
        onRecord: succeeded,
        ...lateOf(firsts.filter(([, dueAt]) => dueAt >= from && dueAt < to)),
        faults,
      }
    }),
  )
}

/** Each schedule has run at every one of its instants, from its first run to its last, and at all within the time looked at. */
function holes(starts: readonly Start[], perSecond: number, from: number, to: number): string[] {
  const instants = new Map<number, number[]>()
  for (const [number, dueAt] of starts) {
    const known = instants.get(number)
    if (known === undefined) instants.set(number, [dueAt])
    else known.push(dueAt)
  }
  let missing = 0
  for (const all of instants.values()) {
    const first = Math.min(...all)
    const last = Math.max(...all)
    missing += (last - first) / INTERVAL_MS + 1 - all.length
    missing +=
      Math.max(0, Math.ceil((first - from) / INTERVAL_MS) - 1) + Math.max(0, Math.ceil((to - last) / INTERVAL_MS) - 1)
  }
  const faults: string[] = []
  if (instants.size < perSecond) faults.push(`${perSecond - instants.size} schedules never ran`)
  if (missing > 0) faults.push(`${missing} fires did not run`)
  return faults
}
