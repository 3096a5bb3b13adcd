import type { Change } from '../../model/change.ts'
import type { ChangeResult, Transacted, Transaction } from '../store.ts'
import type { Database, Statement } from './database.ts'
import { PostgresStoreError } from './errors.ts'
import { clockCte, MOMENT_JSON, SCHEDULE_JSON, type ScheduleRow, type StoreMoment, scheduleOf } from './rows.ts'
import { livesSql } from './steps.ts'

export interface TransactStatements {
  /** Whether the run is live: $2 schedule, $3 token. */
  readonly look: Statement
  /** The same, with the state of the schedule, which nobody else changes until the transaction is over. */
  readonly lock: Statement
}

interface LockAnswer extends StoreMoment {
  readonly live: boolean
  readonly schedule: ScheduleRow | null
}

export function transactStatements(schema: string): TransactStatements {
  const live = `exists (
         select from ${schema}._open o
          where o.namespace = $1::text and o.schedule = $2::text and o.token = $3::text and ${livesSql(schema)}
       )`
  return {
    look: { name: 'run_look', sql: `select (${live})::text as answer` },
    lock: {
      name: 'run_lock',
      // The row is locked, and looked at as it is by then, before anything else is: two statements would be two round trips.
      sql: `
with ${clockCte(schema)},
locked as materialized (
  select ${SCHEDULE_JSON} as schedule
    from ${schema}._clocks k
    join ${schema}._schedules s on s.namespace = k.namespace and s.id = k.id
   where k.namespace = $1::text and k.id = $2::text
     for no key update of k
)
select ${MOMENT_JSON} || ',"live":' || ${live} || ',"schedule":' || coalesce((select schedule from locked), 'null') || '}' as answer
  from clock`,
    },
  }
}

/** Thrown to have everything rolled back: the run is no longer live. */
class Stale extends Error {}

/** What the store lends to a transaction. */
export interface TransactTools<Tx> {
  readonly database: Database<Tx>
  readonly namespace: string
  readonly statements: TransactStatements
  readonly applyIn: (tx: Tx, change: Change) => Promise<ChangeResult>
}

/**
 * The user's work, then the settlement as the last statement, guarded by the version of the schedule: whoever overtook this run has
 * moved it. The row is locked from there to the commit, so whoever wants to overtake comes before or after, never between.
 */
export async function transact<Tx, Value>(
  { database, namespace, statements, applyIn }: TransactTools<Tx>,
  { schedule, token, work, settle }: Transaction<Tx, Value>,
): Promise<Transacted<Value>> {
  const values = [namespace, schedule, token]
  const isLive = async (): Promise<boolean> => (await database.ask(statements.look, values)) === 'true'
  // Also so that work which can come to nothing is not begun.
  if (!(await isLive())) return { kind: 'stale' }
  try {
    return await database.transaction(async (tx, requireOpen) => {
      const value = await work(tx)
      await requireOpen()
      const { live, schedule: row, now } = JSON.parse(await database.askIn(tx, statements.lock, values)) as LockAnswer
      const change = live && row !== null ? settle(scheduleOf(row), now, value) : null
      if (change === null) throw new Stale()
      const { kind } = await applyIn(tx, change)
      if (kind !== 'applied') throw conflict(schedule, kind)
      return { kind: 'committed', value, now }
    })
  } catch (error) {
    if (error instanceof Stale) return { kind: 'stale' }
    // In a transaction that sees only the past, being overtaken looks like this. Rolled back for certain, so looking is enough.
    if (isConflict(error) && !(await isLive())) return { kind: 'stale' }
    throw error
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof PostgresStoreError && error.code === 'STORE_CONFLICT' && error.notApplied
}

function conflict(schedule: string, kind: ChangeResult['kind']): PostgresStoreError {
  return new PostgresStoreError('TRANSACTION_CONFLICT', `The settlement of ${schedule} was refused: ${kind}.`, {
    hint: 'Run it again.',
    notApplied: true,
  })
}
