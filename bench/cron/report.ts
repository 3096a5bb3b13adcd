import { grouped, table } from '../shared/table.ts'
import type { Bar } from './bars.ts'
import type { HeapRow } from './heap-plan.ts'
import { type LibraryName, shortName } from './library.ts'
import type { TimingRow } from './timing-plan.ts'
import { versionOf } from './versions.ts'
import type { ZoneTimes } from './zone-plan.ts'

interface Results {
  readonly libraries: readonly LibraryName[]
  readonly rows: readonly TimingRow[]
  readonly heaps: readonly HeapRow[]
  readonly zones: ZoneTimes
  readonly bars: readonly Bar[]
  readonly faults: readonly string[]
  readonly rounds: number
}

/** The results as Markdown, which is also readable in a terminal. */
export function report(results: Results): string {
  const { libraries, rows, heaps, zones, bars, faults, rounds } = results
  const { node, icu, tz } = process.versions
  const parts = [
    `Node ${node}, ICU ${icu}, tzdata ${tz}; ${rounds} rounds; ` +
      `${libraries.map((library) => `${library} ${versionOf(library)}`).join(', ')}.`,
    '### Time per operation',
    'Nanoseconds, best round. The last columns: how many times faster cronce is, median over the rounds.',
    timeTable(libraries, rows),
    notes(rows),
    '### Heap per schedule',
    'Bytes per schedule. "With strings": the caller drops the expression, so what the schedule keeps of it counts. ' +
      '"First next": what asking once adds.',
    heapTable(heaps),
    '### First use of a zone',
    zoneText(zones),
    '### Bars',
    barTable(bars),
  ]
  if (faults.length > 0) parts.push('### Faults', faults.map((fault) => `- ${fault}`).join('\n'))
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function timeTable(libraries: readonly LibraryName[], rows: readonly TimingRow[]): string {
  const head = ['', ...libraries.map(shortName), '× zone-aware', '× cron-schedule']
  return table(
    head,
    rows.map((row) => [
      row.name,
      ...libraries.map((library) => grouped(row.bestNs.get(library))),
      times(row.overZonePeer),
      times(row.overCronSchedule),
    ]),
  )
}

function heapTable(heaps: readonly HeapRow[]): string {
  const head = ['', 'alive', 'distinct', 'with strings', 'first next', '200 repeated', 'with strings', 'first next']
  return table(
    head,
    heaps.map(({ library, count, distinct, repeated }) => [
      shortName(library),
      grouped(count),
      ...[distinct, repeated].flatMap((f) => [grouped(f.bytes), grouped(f.withStrings), grouped(f.onceAsked)]),
    ]),
  )
}

function barTable(bars: readonly Bar[]): string {
  return table(
    ['bar', 'limit', 'measured', ''],
    bars.map(({ what, limit, measured, pass }) => [what, limit, measured, pass ? 'PASS' : 'FAIL']),
  )
}

function zoneText(zones: ZoneTimes): string {
  return (
    `${zones.zones} zones in each of ${zones.processes} fresh processes: median ${zones.medianMs.toFixed(2)} ms, ` +
    `slowest ${zones.maxMs.toFixed(2)} ms (${zones.slowest}), ` +
    `the very first zone of a process ${zones.firstMs.toFixed(1)} ms.`
  )
}

/** Which libraries did not take part and why, and which answer differently at zone changes. */
function notes(rows: readonly TimingRow[]): string {
  const lines: string[] = []
  for (const row of rows) {
    const out = [...row.leftOut].map(([library, why]) => `${shortName(library)} (${why})`)
    if (out.length > 0) lines.push(`- ${row.name}: without ${out.join(', ')}`)
    const differing = row.differing.filter(({ library }) => !row.leftOut.has(library))
    if (differing.length === 0) continue
    const shares = differing.map((d) => `${shortName(d.library)} ${d.differing} of ${d.compared}`)
    lines.push(`- ${row.name}: answers other than ours: ${shares.join(', ')}`)
  }
  return lines.join('\n')
}

function times(value: number | undefined): string {
  return value === undefined ? '-' : value.toPrecision(3)
}
