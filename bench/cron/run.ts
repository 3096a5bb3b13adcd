// npm run bench:cron [-- --quick] [-- --report FOLDER] [-- --markdown FILE] [-- --only cronce,croner]
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Comparison, measuredNow } from '../../scripts/reports/report.ts'
import { publish } from '../shared/publish.ts'
import { judge } from './bars.ts'
import { startChild } from './children.ts'
import { measureHeaps } from './heap-plan.ts'
import { LIBRARY_NAMES, type LibraryName, OURS, shortName } from './library.ts'
import { report } from './report.ts'
import { type TimingRow, timeWorkloads } from './timing-plan.ts'
import { measureZones } from './zone-plan.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    report: { type: 'string' },
    markdown: { type: 'string' },
    only: { type: 'string' },
  },
})
const { quick } = values
const libraries = chosen(values.only)
const effort = quick ? { rounds: 5, roundMs: 5, warmMs: 40 } : { rounds: 21, roundMs: 10, warmMs: 120 }
const started = performance.now()
const progress = (text: string) =>
  process.stderr.write(`${((performance.now() - started) / 1000).toFixed(0)} s  ${text}\n`)

const children = await Promise.all(libraries.map(startChild))
const rows = await timeWorkloads(children, effort, (row) => {
  const ours = row.bestNs.get(OURS)
  progress(ours === undefined ? row.name : `${row.name}: ${Math.round(ours)} ns, checksum ${row.checksums.get(OURS)}`)
})
for (const child of children) child.stop()

const zones = await measureZones(quick ? 2 : 7)
const heaps = await measureHeaps(quick ? libraries.filter((name) => name === OURS) : libraries, (row) => {
  progress(`heap of ${row.library}: ${Math.round(row.distinct.bytes)} bytes`)
})

const faults = rows.flatMap((row) => row.faults)
const bars = judge(rows, heaps, zones)
const text = report({ libraries, rows, heaps, zones, bars, faults, rounds: effort.rounds })
process.stdout.write(text)
if (values.markdown !== undefined) writeFileSync(values.markdown, text)
publish(values.report, {
  name: 'cron',
  isQuick: quick,
  measured: [measuredNow('all')],
  covers: ['packages/cronce/src/trigger', 'bench/cron'],
  markdown: text,
  bars,
  comparisons: rows
    .filter(({ overZonePeer, name }) => overZonePeer !== undefined && /^next, |^parse, distinct/.test(name))
    .map((row) => compared(row)),
})
// A missed bar is news, not an error; wrong answers are.
process.exitCode = faults.length > 0 ? 1 : 0

/** Ours is the reference of all checks and comparisons, so it takes part in every run. */
function chosen(only: string | undefined): readonly LibraryName[] {
  if (only === undefined) return LIBRARY_NAMES
  const names = only.split(',')
  const known = LIBRARY_NAMES.map(shortName)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`--only does not know ${unknown.join(', ')}; there are ${known.join(', ')}.`)
  if (!names.includes(OURS)) throw new Error(`--only needs ${OURS}, which the others are compared with.`)
  return LIBRARY_NAMES.filter((name) => names.includes(shortName(name)))
}

/** With the fastest peer that knows time zones. */
function compared({ name, bestNs, overZonePeer }: TimingRow): Comparison {
  const peers = [...bestNs].filter(([library]) => library !== OURS && library !== 'cron-schedule')
  const [peer, theirs] = peers.toSorted(([, one], [, other]) => one - other)[0]!
  return {
    ...{ what: `cron: ${name}`, peer: shortName(peer), ratio: overZonePeer!, isMoreBetter: true, cpu: null },
    absolute: [`${Math.round(bestNs.get(OURS)!)} ns`, `${Math.round(theirs)} ns`],
  }
}
