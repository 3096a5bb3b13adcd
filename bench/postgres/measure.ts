import type { BenchCommand } from '../shared/command-line.ts'
import { inTurn } from '../shared/in-turn.ts'
import { measureEach } from '../shared/parts.ts'
import type { Load } from '../shared/protocol.ts'
import { measureFailover } from './failover-plan.ts'
import type { FleetOptions } from './fleet.ts'
import { nameOf } from './fleet.ts'
import { measureHistory } from './history-plan.ts'
import { measureIdle } from './idle-plan.ts'
import { measureLateness } from './lateness-plan.ts'
import { measureBreakdown } from './profile-plan.ts'
import type { Part, Results } from './results.ts'
import { measureRush, type Rush } from './rush-plan.ts'
import { measureScale } from './scale-plan.ts'
import type { BenchServer } from './server.ts'
import { measureHeldSnapshot } from './snapshot-plan.ts'

type MeasureOptions = Omit<BenchCommand<Part>, 'print'>

const cronce = (instances: number): FleetOptions => ({ system: 'cronce', instances, concurrency: 1_000 })
/** Each as its own documentation and our trials found it fastest. */
const QUEUES: readonly FleetOptions[] = [
  { system: 'graphile-worker', instances: 1, concurrency: 24 },
  { system: 'graphile-worker', instances: 4, concurrency: 24 },
  { system: 'pg-boss', instances: 1, concurrency: 2, batch: 1_000 },
  { system: 'pg-boss', instances: 4, concurrency: 1, batch: 1_000 },
  { system: 'pg-boss', instances: 1, concurrency: 2, batch: 2_500 },
]

export async function measureParts(server: BenchServer, options: MeasureOptions): Promise<Results> {
  const measure = (part: Part) => measurers[part](server, options)
  return (await measureEach(options.parts, measure, options)) as Results
}

const measurers: { readonly [Name in Part]: (server: BenchServer, options: MeasureOptions) => Promise<Results[Name]> } =
  {
    throughput: measureThroughput,
    bursts: (server, { quick, progress }) =>
      inTurn(quick ? [cronce(4)] : [cronce(1), cronce(4)], async (fleet) => {
        const burst = await measureRush(server, { ...fleet, count: 10_000, settled: false })
        progress(`burst of 10,000, ${nameOf(fleet)}: last started after ${burst.lastStartMs} ms`)
        return burst
      }),
    lateness: (server, options) =>
      inTurn(
        [
          [cronce(1), 100] as const,
          [cronce(4), 1_000] as const,
          ...(options.quick
            ? []
            : ([
                [cronce(1), 1_000],
                [cronce(4), 100],
              ] as const)),
        ],
        ([fleet, count]) => late(server, options, fleet, { kind: 'steady', count }, options.quick ? 4 : 15),
      ),
    together: (server, options) => {
      const fives: Load = { kind: 'together', count: 500, intervalMs: 2_000 }
      const thousands: Load = { kind: 'together', count: 5_000, intervalMs: 5_000 }
      const everySecond: Load = { kind: 'together', count: 1_000, intervalMs: 1_000 }
      const nodeCron: FleetOptions = { system: 'node-cron', instances: 3, concurrency: 1 }
      return inTurn(
        [
          [cronce(3), fives] as const,
          [cronce(3), everySecond] as const,
          [{ ...cronce(3), concurrency: 2_000 }, thousands] as const,
          [nodeCron, everySecond] as const,
          ...(options.quick ? [] : ([[cronce(1), fives]] as const)),
        ],
        ([fleet, load]) => late(server, options, fleet, load, options.quick ? 4 : 20),
      )
    },
    failover: async (server, { quick, progress }) => {
      const failover = await measureFailover(server, cronce(3), quick ? 1 : 5)
      progress(`failover after ${failover.eachMs.join(', ')} ms`)
      return failover
    },
    isolated: (server, options) =>
      inTurn(options.quick ? [cronce(3)] : [cronce(1), cronce(3)], (fleet) =>
        // One a second: every fire finds the fleet asleep.
        late(server, options, fleet, { kind: 'steady', count: 1 }, options.quick ? 8 : 30),
      ),
    idle: (server, { quick, progress }) =>
      inTurn(quick ? [cronce(3)] : [cronce(1), cronce(3)], async (fleet) => {
        const idle = await measureIdle(server, fleet, 1_000, quick ? 20 : 120)
        progress(`idle, ${nameOf(fleet)}: ${idle.statements.toFixed(1)} statements a minute each`)
        return idle
      }),
    scale: (server, { quick, progress }) =>
      inTurn(quick ? [10_000] : [10_000, 1_000_000], async (schedules) => {
        const scale = await measureScale(server, cronce(1), schedules, quick ? 5 : 60)
        progress(`${schedules} schedules: created in ${(scale.createMs / 1000).toFixed(1)} s`)
        return scale
      }),
    history: (server, { quick, progress }) =>
      inTurn(quick ? [1_000, 10_000] : [10_000, 1_000_000], async (schedules) => {
        const options = { schedules, recordsEach: 10, fires: quick ? 2_000 : 10_000 }
        const history = await measureHistory(server, cronce(1), options)
        progress(`${history.records} records: ${history.reads.length} questions asked`)
        return history
      }),
    snapshot: (server, { quick }) =>
      measureHeldSnapshot(server, cronce(1), {
        // Well below the capacity of the machine: an overloaded system would be late for that reason.
        perSecond: 500,
        burst: quick ? 1_000 : 3_000,
        heldSeconds: quick ? 10 : 60,
        lookSeconds: quick ? 3 : 8,
      }),
    breakdown: (server, { quick }) => measureBreakdown(server, cronce(1), quick ? 5_000 : 20_000),
  }

/** Round by round, so that what else the machine does hits all alike. */
async function measureThroughput(
  server: BenchServer,
  { quick, progress }: MeasureOptions,
): Promise<Results['throughput']> {
  const queues = quick ? QUEUES.filter(({ batch = 0 }) => batch <= 1_000) : QUEUES
  const warm = [cronce(1), cronce(4), ...queues].map((fleet) => ({ fleet, warm: true, rounds: [] as Rush[] }))
  const fresh = warm.filter(({ fleet }) => fleet.instances === 1).map((one) => ({ ...one, warm: false, rounds: [] }))
  const all = [...warm, ...fresh]
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    for (const { fleet, warm, rounds } of all) {
      const rush = await measureRush(server, { ...fleet, warm, count: quick ? 10_000 : 40_000, settled: true })
      rounds.push(rush)
      progress(`${nameOf(fleet)}, ${warm ? 'warm' : 'fresh'}: ${Math.round(rush.firesPerSecond)} fires/s`)
    }
  }
  return all
}

async function late(
  server: BenchServer,
  { progress }: MeasureOptions,
  fleet: FleetOptions,
  load: Load,
  seconds: number,
): ReturnType<typeof measureLateness> {
  const measured = await measureLateness(server, fleet, load, seconds)
  const { p50Ms, p99Ms, effort } = measured
  const cost = effort.statements.toPrecision(3)
  progress(`${load.kind} ${load.count}, ${nameOf(fleet)}: p50 ${p50Ms}, p99 ${p99Ms} ms late, ${cost} statements/fire`)
  return measured
}
