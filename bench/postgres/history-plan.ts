import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'cronce'
import { postgres } from 'cronce/postgres'
import { measureReads, type ReadCost, type RecordedHistory } from '../shared/reads.ts'
import { onceFaults } from '../shared/starts.ts'
import { type FleetOptions, withFleet } from './fleet.ts'
import { forgetStatements, type StatementCost, statementsOf, tablesOf } from './readings.ts'
import { type BenchDatabase, type BenchServer, tell } from './server.ts'

/** What records cost that are already there: questions about them, and fires beside them. */
export interface History {
  readonly schedules: number
  readonly records: number
  readonly diskBytes: number
  readonly reads: readonly ReadCost[]
  /** Fires due at one instant, and the statements that they took, the most expensive first. */
  readonly fires: number
  readonly statements: readonly StatementCost[]
  readonly faults: readonly string[]
}

export interface HistoryOptions {
  readonly schedules: number
  readonly recordsEach: number
  readonly fires: number
}

const DAYS = 90
const DAY_MS = 86_400_000
/** Longer than creating the schedules of the burst takes. */
const NOTICE_MS = 20_000
const PATIENCE_MS = 120_000

/** The connections, and with them all plans, are older than the records: the tables were empty when the plans were made. */
export function measureHistory(
  server: BenchServer,
  options: FleetOptions,
  { schedules, recordsEach, fires }: HistoryOptions,
): Promise<History> {
  return server.withDatabase((database) =>
    withFleet(database, options, async (fleet) => {
      await fleet.create({ kind: 'burst', count: 100, first: schedules, at: Date.now() + 4_000 })
      await fleet.start()
      await fleet.until('ended', 100, PATIENCE_MS)
      const client = await connect({ store: postgres(database.url) })
      try {
        const to = Date.now()
        const instances = Array.from({ length: DAYS }, (_, day) => `bench-${day}`)
        const history: RecordedHistory = { schedules, from: to - DAYS * DAY_MS, to, instances }
        await measureReads(client, history, 1)
        await fleet.create({ kind: 'idle', count: schedules })
        await fill(database, history, recordsEach)
        const reads = await measureReads(client, history)
        const before = (await fleet.collect()).flat().length
        const at = Date.now() + NOTICE_MS
        await fleet.create({ kind: 'burst', count: fires, first: 2 * schedules, at })
        await sleep(at - 500 - Date.now())
        await forgetStatements(database)
        await fleet.until('ended', before + fires, PATIENCE_MS)
        const statements = await statementsOf(database)
        const starts = (await fleet.collect()).flat().filter(([number]) => number >= 2 * schedules)
        await fleet.stop()
        const tables = await tablesOf(database)
        return {
          schedules,
          records: schedules * recordsEach,
          diskBytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
          reads,
          fires,
          statements,
          faults: onceFaults(
            starts.map(([number, ...rest]) => [number - 2 * schedules, ...rest] as const),
            fires,
          ),
        }
      } finally {
        await client.close()
      }
    }),
  )
}

/** Straight into the tables, as settlements would have left them: one in a hundred failed, each day ran on another instance. */
async function fill(
  database: BenchDatabase,
  { from, to, instances }: RecordedHistory,
  recordsEach: number,
): Promise<void> {
  const stepMs = Math.floor((to - from) / recordsEach)
  const names = instances.map((name) => `('default', '${name}')`).join(', ')
  await tell(database, `insert into cronce._runners (namespace, instance) values ${names}`)
  await tell(
    database,
    `insert into cronce._history
       (key, due_at, number, token, started_at, ended_at, expires_at, space, job, runner, reason, is_final, nonce, tenant, more)
     select l.key, l.due_at, l.number, 17592186044416 + l.number, l.due_at + 5, l.due_at + 25, ${to} + 30::bigint * ${DAY_MS},
            (select number from cronce._namespaces limit 1), l.job, r.number,
            case when (l.key + l.number) % 100 = 0 then 17 else 1 end, true, '', '', ''
       from (
         select k.key, k.job, n as number, ${from} + (n - 1) * ${stepMs}::bigint + k.key % ${stepMs} as due_at
           from cronce._clocks k
          cross join generate_series(1, ${recordsEach}) as n
       ) l
       join cronce._runners r on r.namespace = 'default' and r.instance = 'bench-' || (l.due_at - ${from}) / ${DAY_MS}
      order by l.due_at`,
  )
  await tell(
    database,
    `insert into cronce._counts (space, hour, outcome, backend, fires)
     select h.space, h.due_at - h.due_at % 3600000, (h.reason - 1) / 16, 0, count(*) from cronce._history h group by 1, 2, 3
     on conflict do nothing`,
  )
}
