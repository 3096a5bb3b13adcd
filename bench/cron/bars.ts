import type { HeapRow } from './heap-plan.ts'
import { OURS } from './library.ts'
import type { TimingRow } from './timing-plan.ts'
import type { ZoneTimes } from './zone-plan.ts'

/** What we hold ourselves to. The limits are decided in advance and are not fitted to results. */
export interface Bar {
  readonly what: string
  readonly limit: string
  readonly measured: string
  readonly pass: boolean
}

const LEAST = { overZonePeer: 100, overCronSchedule: 3, parse: 5 }
const MOST = { distinctBytes: 150, repeatedBytes: 40, zoneMs: 1, millionSeconds: 0.3 }

export function judge(rows: readonly TimingRow[], heaps: readonly HeapRow[], zones: ZoneTimes): Bar[] {
  const bars: Bar[] = []
  for (const row of rows) {
    if (row.bars === 'next' || row.bars === 'million') {
      atLeast(bars, `${row.name}: times the fastest zone-aware peer`, row.overZonePeer, LEAST.overZonePeer)
      atLeast(bars, `${row.name}: times cron-schedule`, row.overCronSchedule, LEAST.overCronSchedule)
    }
    if (row.bars === 'parse') atLeast(bars, `${row.name}: times the fastest peer`, row.overAnyPeer, LEAST.parse)
    const ns = row.bestNs.get(OURS)
    if (row.bars === 'million' && ns !== undefined) {
      atMost(bars, 'a million next over five zones, seconds', (ns * 1e6) / 1e9, MOST.millionSeconds)
    }
  }
  const ours = heaps.find((row) => row.library === OURS)
  if (ours !== undefined) {
    atMost(bars, 'heap per distinct schedule, bytes', ours.distinct.bytes, MOST.distinctBytes)
    atMost(bars, 'heap per schedule with a known expression, bytes', ours.repeated.bytes, MOST.repeatedBytes)
  }
  atMost(bars, 'first use of a zone, median ms', zones.medianMs, MOST.zoneMs)
  return bars
}

function atLeast(bars: Bar[], what: string, value: number | undefined, limit: number): void {
  if (value === undefined) return
  bars.push({ what, limit: `≥ ${limit}`, measured: value.toPrecision(3), pass: value >= limit })
}

function atMost(bars: Bar[], what: string, value: number, limit: number): void {
  bars.push({ what, limit: `≤ ${limit}`, measured: value.toPrecision(3), pass: value <= limit })
}
