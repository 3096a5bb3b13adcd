// npm run bench:engine [-- --quick] [-- --markdown FILE] [-- --only-metrics] [-- --only-watch]
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { judge } from './bars.ts'
import { measureBurst } from './burst-plan.ts'
import { measureIdle } from './idle-plan.ts'
import { measureLateness } from './lateness-plan.ts'
import { differenceOf, measureOverhead } from './metrics-plan.ts'
import { overheadTable, report, watchingTable } from './report.ts'
import { measureScale } from './scale-plan.ts'
import { type Candidate, measureThroughput } from './throughput-plan.ts'
import { callsPerLook, measureWatching, mostRows } from './watch-plan.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    markdown: { type: 'string' },
    'only-metrics': { type: 'boolean', default: false },
    'only-watch': { type: 'boolean', default: false },
  },
})
const { quick } = values
const begun = performance.now()
const progress = (text: string) =>
  process.stderr.write(`${((performance.now() - begun) / 1000).toFixed(0)} s  ${text}\n`)

const memory = { store: 'memory', concurrency: 1_000 } as const
const sqlite = { store: 'sqlite', concurrency: 1_000 } as const
const watching = await inTurn(values['only-metrics'] ? [] : (['memory', 'sqlite'] as const), async (store) => {
  const measured = await measureWatching(store, 100_000, quick ? 12 : 60)
  progress(`watchdog, ${store}: ${callsPerLook(measured).toFixed(2)} calls a minute, ${mostRows(measured)} rows`)
  return measured
})
if (values['only-watch']) {
  process.stdout.write(`${watchingTable(watching)}\n`)
  process.exit()
}
const overhead = await measureOverhead(quick ? 10 : 150)
const { percent, from, to } = differenceOf(overhead, 'measured')
progress(`metrics: ${percent.toFixed(1)} % more CPU per fire (${from.toFixed(1)} to ${to.toFixed(1)})`)
if (values['only-metrics']) {
  process.stdout.write(`${overheadTable(overhead)}\n`)
  process.exit()
}

const candidates: readonly Candidate[] = [
  { ...memory, instances: 1, count: 40_000 },
  { ...memory, instances: 4, count: 40_000 },
  { ...memory, instances: 1, concurrency: 20, count: 20_000 },
  { ...sqlite, instances: 1, count: 10_000 },
  { ...sqlite, instances: 4, count: 10_000 },
  { ...sqlite, instances: 1, concurrency: 20, count: 5_000 },
]
const throughput = await measureThroughput(candidates, quick ? 1 : 5, progress)

const bursts = await inTurn(
  [
    { ...memory, instances: 1 },
    { ...sqlite, instances: 1 },
    { ...sqlite, instances: 4 },
  ],
  async (options) => {
    const burst = await measureBurst(options, 10_000)
    progress(`burst of 10,000, ${options.store}, ${options.instances}: last started after ${burst.lastStartMs} ms`)
    return burst
  },
)

const seconds = quick ? 4 : 15
const lateness = await inTurn(
  [memory, sqlite].flatMap((store) =>
    [100, 1_000].map((perSecond) => ({ options: { ...store, instances: 1 }, perSecond })),
  ),
  async ({ options, perSecond }) => {
    const measured = await measureLateness(options, perSecond, seconds)
    progress(`${perSecond} fires/s, ${options.store}: p50 ${measured.p50Ms} ms, p99 ${measured.p99Ms} ms late`)
    return measured
  },
)

const fleets = await inTurn(quick ? [1, 4, 16] : [1, 2, 4, 8, 16, 32], async (instances) => {
  const measured = await measureLateness({ ...memory, instances }, 200, seconds)
  progress(`${instances} instances: ${measured.callsPerFire.toFixed(2)} store calls per fire`)
  return measured
})

const idle = await inTurn([memory, sqlite], async (store) => {
  const measured = await measureIdle({ ...store, instances: 1 }, 10_000, quick ? 15 : 60)
  progress(`idle, ${store.store}: ${measured.calls.toFixed(0)} store calls a minute`)
  return measured
})

const sizes = quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000]
const scales = await inTurn(
  [memory, sqlite].flatMap(({ store }) => sizes.map((schedules) => ({ store, schedules }))),
  async ({ store, schedules }) => {
    const measured = await measureScale(store, schedules)
    progress(`${schedules} schedules, ${store}: created in ${(measured.createMs / 1000).toFixed(1)} s`)
    return measured
  },
)

const results = { watching, overhead, throughput, bursts, lateness, fleets, idle, scales }
const text = report(results, judge(results))
process.stdout.write(text)
if (values.markdown !== undefined) writeFileSync(values.markdown, text)
// A missed bar is news, not an error; a fire that was lost or run twice is.
const faults = [...throughput.flatMap(({ rounds }) => rounds), ...bursts, ...lateness, ...fleets].flatMap(
  (one) => one.faults,
)
process.exitCode = faults.length > 0 ? 1 : 0

/** One after the other: two cores are few. */
async function inTurn<Item, Result>(
  items: readonly Item[],
  measure: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const measured: Result[] = []
  for (const item of items) measured.push(await measure(item))
  return measured
}
