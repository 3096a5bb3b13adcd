import type { BenchCommand } from '../shared/command-line.ts'
import { measureFailovers } from '../shared/failover.ts'
import { inTurn } from '../shared/in-turn.ts'
import { measureEach } from '../shared/parts.ts'
import type { Load } from '../shared/protocol.ts'
import { measureAudit } from './audit-plan.ts'
import { type FleetOptions, nameOf, withFleet } from './fleet.ts'
import { measureIdle } from './idle-plan.ts'
import { type Lateness, type LatenessOptions, measureLateness } from './lateness-plan.ts'
import { measureBreakdown } from './profile-plan.ts'
import type { Part, Results } from './results.ts'
import { measureRush, type Rush } from './rush-plan.ts'
import { measureScale } from './scale-plan.ts'
import { type Fsync, withServer } from './server.ts'

type MeasureOptions = Omit<BenchCommand<Part>, 'print'>

const cronce = (instances: number): FleetOptions => ({ system: 'cronce', instances, concurrency: 1_000 })
/** As many at a time as trials found fastest. */
const bullmq = (instances: number): FleetOptions => ({ system: 'BullMQ', instances, concurrency: 50 })
const nodeCron: FleetOptions = { system: 'node-cron', instances: 3, concurrency: 1 }

export async function measureParts(options: MeasureOptions): Promise<Results> {
  const measure = (part: Part) => measurers[part](options)
  return (await measureEach(options.parts, measure, options)) as Results
}

const measurers: { readonly [Name in Part]: (options: MeasureOptions) => Promise<Results[Name]> } = {
  throughput: measureThroughput,
  bursts: ({ quick, progress }) =>
    inTurn(quick ? [cronce(4)] : [cronce(1), cronce(4)], async (fleet) => {
      const burst = await measureRush({ ...fleet, count: 10_000, fsync: 'everysec' })
      progress(`burst of 10,000, ${nameOf(fleet)}: last started after ${burst.lastStartMs} ms`)
      return burst
    }),
  lateness: (options) => {
    const seconds = options.quick ? 4 : 15
    const steady = (fleet: FleetOptions, count: number) => ({
      ...fleet,
      load: { kind: 'steady', count } as const,
      seconds,
    })
    const few = [steady(cronce(1), 100), steady(cronce(4), 1_000)]
    const others = [steady(cronce(1), 1_000), steady(bullmq(1), 100), steady(bullmq(4), 1_000)]
    return inTurn(options.quick ? few : [...few, ...others], (one) => late(options, one))
  },
  together: (options) => {
    const load: Load = { kind: 'together', count: 1_000, intervalMs: 1_000 }
    const seconds = options.quick ? 5 : 20
    return inTurn([cronce(3), bullmq(3), nodeCron], (fleet) => late(options, { ...fleet, load, seconds }))
  },
  failover: async ({ quick, progress }) => {
    const options = cronce(3)
    const failovers = await measureFailovers(quick ? 1 : 5, (work) =>
      withServer('everysec', (server) => withFleet(server, options, work)),
    )
    progress(`failover after ${failovers.eachMs.join(', ')} ms`)
    return { options, ...failovers }
  },
  isolated: (options) => {
    // One a second: every fire finds the fleet asleep.
    const load: Load = { kind: 'steady', count: 1 }
    const seconds = options.quick ? 8 : 30
    const fleets = options.quick ? [cronce(3)] : [cronce(1), cronce(3), bullmq(3)]
    return inTurn(fleets, (fleet) => late(options, { ...fleet, load, seconds, closely: true }))
  },
  idle: ({ quick, progress }) =>
    inTurn(quick ? [cronce(3)] : [cronce(1), cronce(3)], async (fleet) => {
      const idle = await measureIdle(fleet, 1_000, quick ? 20 : 120)
      progress(`idle, ${nameOf(fleet)}: ${idle.sent.toFixed(1)} commands a minute each`)
      return idle
    }),
  audit: async ({ quick, progress }) => {
    const audit = await measureAudit(cronce(3), 1_000, quick ? 8 : 30)
    const { fires, onRecord, passedOver, faults } = audit
    progress(
      `audit: ${fires} fires, ${onRecord} on record, ${passedOver} skipped, ${faults.join('; ') || 'nothing lost'}`,
    )
    return audit
  },
  scale: ({ quick, progress }) =>
    inTurn(quick ? [10_000] : [10_000, 100_000, 1_000_000], async (schedules) => {
      const scale = await measureScale(cronce(1), schedules, quick ? 5 : 60)
      progress(`${schedules} schedules: created in ${(scale.createMs / 1000).toFixed(1)} s`)
      return scale
    }),
  breakdown: ({ quick }) => measureBreakdown(cronce(1), quick ? 5_000 : 20_000),
}

/** Round by round, so that what else the machine does hits all alike. */
async function measureThroughput({ quick, progress }: MeasureOptions): Promise<Results['throughput']> {
  const fleets: readonly FleetOptions[] = [
    cronce(1),
    cronce(4),
    bullmq(1),
    bullmq(4),
    { ...bullmq(1), removes: true },
    { ...bullmq(1), concurrency: 100, pipelined: true },
    ...(quick ? [] : [{ ...bullmq(4), pipelined: true }]),
  ]
  const warm = (['everysec', 'always'] satisfies Fsync[]).flatMap((fsync) =>
    fleets.map((fleet) => ({ fleet, fsync, warm: true, rounds: [] as Rush[] })),
  )
  const fresh = [cronce(1), bullmq(1)].map((fleet) => {
    return { fleet, fsync: 'everysec' as const, warm: false, rounds: [] as Rush[] }
  })
  const kinds = [...warm, ...fresh]
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    for (const { fleet, fsync, warm, rounds } of kinds) {
      const rush = await measureRush({ ...fleet, fsync, warm, count: quick ? 10_000 : 40_000 })
      rounds.push(rush)
      progress(`${nameOf(fleet)}, ${fsync}, ${warm ? 'warm' : 'fresh'}: ${Math.round(rush.firesPerSecond)} fires/s`)
    }
  }
  return kinds
}

async function late({ progress }: MeasureOptions, options: LatenessOptions): Promise<Lateness> {
  const measured = await measureLateness(options)
  const { p50Ms, p99Ms, effort, faults } = measured
  const { kind, count } = options.load
  const cost = effort.sent.toPrecision(3)
  progress(
    `${kind} ${count}, ${nameOf(options)}: p50 ${p50Ms}, p99 ${p99Ms} ms late, ${cost} commands/fire ${faults.join('; ')}`,
  )
  return measured
}
