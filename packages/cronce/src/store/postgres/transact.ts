import type { Change } from '../../model/change.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { ChangeResult, Transacted, Transaction } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Database, Statement } from './database.ts'
import type { StatesAnswer } from './schedules.ts'

export interface LockAnswer extends StatesAnswer {
  readonly live: boolean
}

/** Thrown to roll everything back: the run is no longer live. */
class Stale extends Error {}

/** What the store provides to a transaction. */
export interface TransactTools<Tx> {
  readonly database: Database<Tx>
  readonly namespace: string
  /** Whether the run is live. */
  readonly look: Statement
  /** The same, with the state of the schedule, which is locked. */
  readonly lock: (tx: Tx, values: readonly string[]) => Promise<readonly [LockAnswer, readonly ScheduleState[]]>
  readonly applyIn: (tx: Tx, change: Change) => Promise<ChangeResult['kind']>
  readonly committed: (change: Change) => void
}

/**
 * The user's work, then the settlement as the last statement, guarded by the version of the schedule, which changes when a peer
 * takes over. The row is locked from there to the commit, so a peer takes over before or after, never in between.
 */
export async function transact<Tx, Value>(
  { database, namespace, look, lock, applyIn, committed }: TransactTools<Tx>,
  { schedule, token, work, settle }: Transaction<Tx, Value>,
): Promise<Transacted<Value>> {
  const values = [namespace, schedule, token]
  const isLive = async (): Promise<boolean> => (await database.ask(look, values)) === 'true'
  // Also avoids starting work that cannot be committed.
  if (!(await isLive())) return { kind: 'stale' }
  let settled: Change | null = null
  try {
    const done = await database.transaction(async (tx, requireOpen) => {
      const value = await work(tx)
      await requireOpen()
      const [{ live, now }, [state]] = await lock(tx, values)
      const change = live && state !== undefined ? settle(state, now, value) : null
      if (change === null) throw new Stale()
      const kind = await applyIn(tx, change)
      if (kind !== 'applied') throw conflict(schedule, kind)
      settled = change
      return { kind: 'committed', value, now } as const
    })
    committed(settled!)
    return done
  } catch (error) {
    if (error instanceof Stale) return { kind: 'stale' }
    // In a transaction with an older snapshot, a takeover looks like this. It is rolled back for certain, so reading is enough.
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
