import type { Change } from '../../model/change.ts'
import type { ChangeResult, Transacted, Transaction } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Database, Statement } from './database.ts'
import { clockCte, MOMENT_JSON, SCHEDULE_JSON, type ScheduleRow, type StoreMoment, scheduleOf } from './rows.ts'
import { livesSql } from './steps.ts'

interface LockAnswer extends StoreMoment {
  readonly live: boolean
  readonly schedule: ScheduleRow | null
}

/** SQL: the run is live. $2 schedule, $3 token. */
function liveSql(schema: string): string {
  return `exists (
         select from ${schema}._open o
          where o.namespace = $1::text and o.schedule = $2::text and o.token = $3::text and ${livesSql(schema)}
       )`
}

export function lookStatement(schema: string): Statement {
  return { name: 'run_look', sql: `select (${liveSql(schema)})::text as answer` }
}

/** Nobody else changes the schedule from here to the end of the transaction. */
export function lockFirstSql(schema: string): string {
  return `perform from ${schema}._clocks k where k.namespace = $1 and k.id = $2 for no key update`
}

/** A statement after that, which sees what was committed while the lock was waited for. */
export function lockSql(schema: string): string {
  return `
with ${clockCte(schema)}
select ${MOMENT_JSON} || ',"live":' || ${liveSql(schema)} || ',"schedule":' || coalesce((
         select ${SCHEDULE_JSON}
           from ${schema}._clocks k
           join ${schema}._schedules s on s.namespace = k.namespace and s.id = k.id
          where k.namespace = $1 and k.id = $2
       ), 'null') || '}'
  from clock`
}

/** Thrown to have everything rolled back: the run is no longer live. */
class Stale extends Error {}

/** What the store lends to a transaction. */
export interface TransactTools<Tx> {
  readonly database: Database<Tx>
  readonly namespace: string
  /** Whether the run is live. */
  readonly look: Statement
  /** The same, with the state of the schedule, which is locked. */
  readonly lock: Statement
  readonly applyIn: (tx: Tx, change: Change) => Promise<ChangeResult>
}

/**
 * The user's work, then the settlement as the last statement, guarded by the version of the schedule: whoever overtook this run has
 * moved it. The row is locked from there to the commit, so whoever wants to overtake comes before or after, never between.
 */
export async function transact<Tx, Value>(
  { database, namespace, look, lock, applyIn }: TransactTools<Tx>,
  { schedule, token, work, settle }: Transaction<Tx, Value>,
): Promise<Transacted<Value>> {
  const values = [namespace, schedule, token]
  const isLive = async (): Promise<boolean> => (await database.ask(look, values)) === 'true'
  // Also so that work which can come to nothing is not begun.
  if (!(await isLive())) return { kind: 'stale' }
  try {
    return await database.transaction(async (tx, requireOpen) => {
      const value = await work(tx)
      await requireOpen()
      const { live, schedule: row, now } = JSON.parse(await database.askIn(tx, lock, values)) as LockAnswer
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
  return error instanceof StoreError && error.code === 'STORE_CONFLICT' && error.notApplied
}

function conflict(schedule: string, kind: ChangeResult['kind']): StoreError {
  return new StoreError('TRANSACTION_CONFLICT', `The settlement of ${schedule} was refused: ${kind}.`, {
    hint: 'Run it again.',
    notApplied: true,
  })
}
