import type { BenchCommand } from '../shared/command-line.ts'
import { inTurn } from '../shared/in-turn.ts'
import { measureEach } from '../shared/parts.ts'
import { measureBurst } from './burst-plan.ts'
import { measureIdle } from './idle-plan.ts'
import { type Lateness, measureLateness } from './lateness-plan.ts'
import { differenceOf, measureOverhead } from './metrics-plan.ts'
import type { Part, Results } from './report.ts'
import { measureScale } from './scale-plan.ts'
import { type Candidate, measureThroughput } from './throughput-plan.ts'
import { callsPerLook, measureWatching, mostRows } from './watch-plan.ts'

type MeasureOptions = Omit<BenchCommand<Part>, 'print'>

const memory = { store: 'memory', concurrency: 1_000 } as const
const sqlite = { store: 'sqlite', concurrency: 1_000 } as const
const CANDIDATES: readonly Candidate[] = [
  { ...memory, instances: 1, count: 40_000 },
  { ...memory, instances: 4, count: 40_000 },
  { ...memory, instances: 1, concurrency: 20, count: 20_000 },
  { ...sqlite, instances: 1, count: 10_000 },
  { ...sqlite, instances: 4, count: 10_000 },
  { ...sqlite, instances: 1, concurrency: 20, count: 5_000 },
]

export async function measureParts(options: MeasureOptions): Promise<Results> {
  return (await measureEach(options.parts, (part) => measurers[part](options), options)) as Results
}

const measurers: { readonly [Name in Part]: (options: MeasureOptions) => Promise<Results[Name]> } = {
  throughput: ({ quick, progress }) => measureThroughput(CANDIDATES, quick ? 1 : 5, progress),
  bursts: ({ progress }) =>
    inTurn(
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
    ),
  lateness: (options) =>
    inTurn(
      [memory, sqlite].flatMap((store) => [100, 1_000].map((perSecond) => ({ store, perSecond }))),
      ({ store, perSecond }) => late(options, { ...store, instances: 1 }, perSecond),
    ),
  fleets: (options) =>
    inTurn(options.quick ? [1, 4, 16] : [1, 2, 4, 8, 16, 32], (instances) =>
      late(options, { ...memory, instances }, 200),
    ),
  metrics: async ({ quick, progress }) => {
    const overhead = await measureOverhead(quick ? 10 : 150)
    const { percent, from, to } = differenceOf(overhead, 'measured')
    progress(`metrics: ${percent.toFixed(1)} % more CPU per fire (${from.toFixed(1)} to ${to.toFixed(1)})`)
    return overhead
  },
  watch: ({ quick, progress }) =>
    inTurn(['memory', 'sqlite'] as const, async (store) => {
      const measured = await measureWatching(store, 100_000, quick ? 12 : 60)
      progress(`watchdog, ${store}: ${callsPerLook(measured).toFixed(2)} calls a minute, ${mostRows(measured)} rows`)
      return measured
    }),
  idle: ({ quick, progress }) =>
    inTurn([memory, sqlite], async (store) => {
      const measured = await measureIdle({ ...store, instances: 1 }, 10_000, quick ? 15 : 60)
      progress(`idle, ${store.store}: ${measured.calls.toFixed(0)} store calls a minute`)
      return measured
    }),
  scales: ({ quick, progress }) => {
    const sizes = quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000]
    return inTurn(
      [memory, sqlite].flatMap(({ store }) => sizes.map((schedules) => ({ store, schedules }))),
      async ({ store, schedules }) => {
        const measured = await measureScale(store, schedules)
        progress(`${schedules} schedules, ${store}: created in ${(measured.createMs / 1000).toFixed(1)} s`)
        return measured
      },
    )
  },
}

async function late(
  { quick, progress }: MeasureOptions,
  fleet: Parameters<typeof measureLateness>[0],
  perSecond: number,
): Promise<Lateness> {
  const measured = await measureLateness(fleet, perSecond, quick ? 4 : 15)
  const { p50Ms, p99Ms, callsPerFire } = measured
  progress(
    `${perSecond} fires/s, ${fleet.store}, ${fleet.instances}: p50 ${p50Ms} ms, p99 ${p99Ms} ms late, ${callsPerFire.toFixed(2)} store calls per fire`,
  )
  return measured
}
