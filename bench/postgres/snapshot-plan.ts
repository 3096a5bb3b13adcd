import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Start } from '../shared/protocol.ts'
import { quantile } from '../shared/statistics.ts'
import { type FleetOptions, withFleet } from './fleet.ts'
import { forgetStatements, type StatementCost, statementsOf, type TableUse, tablesOf } from './readings.ts'
import type { BenchDatabase, BenchServer } from './server.ts'

/** A steady load, and a long transaction of another client that keeps the server from vacuuming. */
export interface HeldSnapshot {
  readonly options: FleetOptions
  readonly perSecond: number
  readonly heldSeconds: number
  /** Of steady load that each stretch looks at. The server also has that long to clean up, twice. */
  readonly lookSeconds: number
  readonly burst: number
  readonly before: Stretch
  /** The last seconds with the snapshot still held. */
  readonly held: Stretch
  readonly after: Stretch
  /** What was left to clean when the snapshot was released. */
  readonly tables: readonly TableUse[]
  readonly faults: readonly string[]
}

/** Seconds of steady load, then a burst on top of it. */
export interface Stretch {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly burstLastMs: number
  /** Of the statements that the fleet spends most time in, each by itself. */
  readonly top: readonly StatementCost[]
}

const BURST_MS = 3_000

type Load = Pick<HeldSnapshot, 'perSecond' | 'burst' | 'heldSeconds' | 'lookSeconds'>

export function measureHeldSnapshot(
  server: BenchServer,
  options: FleetOptions,
  { perSecond, burst, heldSeconds, lookSeconds }: Load,
): Promise<HeldSnapshot> {
  return server.withDatabase((database) =>
    withFleet(database, options, async (fleet) => {
      const lookMs = lookSeconds * 1000
      const stretchMs = lookMs + BURST_MS
      const beforeAt = Date.now() + 6_000 + burst
      const heldFrom = beforeAt + stretchMs
      const heldAt = heldFrom + heldSeconds * 1000 - stretchMs
      // Cleaning up is the server's own affair, and takes its time.
      const afterAt = heldAt + stretchMs + 2 * lookMs
      const stretches = [beforeAt, heldAt, afterAt]
      await fleet.create({ kind: 'steady', count: perSecond })
      for (const [index, at] of stretches.entries()) {
        await fleet.create({
          kind: 'burst',
          count: burst,
          first: (index + 1) * 1_000_000,
          at: at + lookMs,
        })
      }
      await fleet.start()
      const before = await look(database, beforeAt, lookMs)
      const release = await holdSnapshot(database)
      const held = await look(database, heldAt, lookMs)
      const tables = await tablesOf(database)
      await release()
      const after = await look(database, afterAt, lookMs)
      await sleep(1_000)
      const starts = (await fleet.collect()).flat()
      await fleet.stop()
      const stretch = (at: number, top: readonly StatementCost[]): Stretch => ({
        ...latenessOf(starts, at, lookMs),
        top,
      })
      const distinct = new Set(starts.map(([number, dueAt]) => `${number} ${dueAt}`)).size
      const bursts = starts.filter(([number]) => number >= 1_000_000).length
      const faults: string[] = []
      if (distinct < starts.length) faults.push(`${starts.length - distinct} fires ran twice`)
      if (bursts !== stretches.length * burst) faults.push(`${bursts} of ${stretches.length * burst} burst fires ran`)
      return {
        options,
        perSecond,
        lookSeconds,
        heldSeconds,
        burst,
        before: stretch(beforeAt, before),
        held: stretch(heldAt, held),
        after: stretch(afterAt, after),
        tables,
        faults,
      }
    }),
  )
}

/** Statements from `at` on until the burst after it is over. */
async function look(database: BenchDatabase, at: number, lookMs: number): Promise<StatementCost[]> {
  if (Date.now() > at) throw new Error('The fleet was not ready for the load.')
  await sleep(at - Date.now())
  await forgetStatements(database)
  await sleep(lookMs)
  const found = await statementsOf(database)
  await sleep(at + lookMs + BURST_MS - Date.now())
  return found.slice(0, 3)
}

async function holdSnapshot({ url }: BenchDatabase): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: url })
  holder.on('error', () => {})
  await holder.connect()
  await holder.query('begin isolation level repeatable read')
  await holder.query('select count(*) from pg_class')
  return async () => {
    await holder.query('commit')
    await holder.end()
  }
}

function latenessOf(starts: readonly Start[], at: number, lookMs: number): Omit<Stretch, 'top'> {
  const burstAt = at + lookMs
  const steady = starts.filter(([number, dueAt]) => number < 1_000_000 && dueAt >= at && dueAt < burstAt)
  const late = steady.map(([, , lateMs]) => lateMs)
  const ofBurst = starts.filter(([number, dueAt]) => number >= 1_000_000 && dueAt === burstAt)
  return {
    p50Ms: quantile(late, 0.5),
    p99Ms: quantile(late, 0.99),
    burstLastMs: quantile(
      ofBurst.map(([, , lateMs]) => lateMs),
      1,
    ),
  }
}
