import { CronceError } from '../../errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { ending } from '../../model/outcome.ts'
import { type Decision, STALE } from '../../policy/decision.ts'
import { type Settlement, settle } from '../../policy/end/settle.ts'
import { kindOf } from '../../words.ts'
import { leavesToPeers } from '../claim/buckets.ts'
import type { Core } from '../core.ts'
import { demandTrust, fenced } from '../fleet/trust.ts'
import { storeDeadline } from '../store-calls.ts'
import type { NoteKeeper } from './notes.ts'
import { resolveTransaction } from './resolve-transaction.ts'
import type { LocalRun } from './run-table.ts'
import { withStart } from './settlement.ts'
import { toJson } from './to-json.ts'

/** State of a transaction under way. */
interface Doing<Value> {
  settled: Decision | null
  value: Value | null
  /** Failed by the user's own work: rolled back for certain. */
  thrown: boolean
  /** The caller no longer waits for it. */
  over: boolean
}

/** The user's work and the settlement of the fire in one transaction of the store's database. */
export async function transact<Tx, Value>(
  core: Core<Tx>,
  run: LocalRun,
  notes: NoteKeeper,
  work: (tx: Tx) => Value | Promise<Value>,
): Promise<Value> {
  if (typeof work !== 'function') {
    throw new CronceError('HANDLER_MISSING', `run.transaction needs a function, but was given ${kindOf(work)}.`, {
      hint: 'Write await run.transaction((tx) => { … }), with all writes in it.',
    })
  }
  if (run.settling) {
    throw new CronceError('TRANSACTION_REPEATED', 'This run has had its transaction.', {
      hint: 'Call run.transaction once, at the end of the handler: it settles the fire.',
    })
  }
  run.settling = true
  const { promise, resolve } = Promise.withResolvers<void>()
  run.transaction = promise
  const doing: Doing<Value> = { settled: null, value: null, thrown: false, over: false }
  try {
    await demandTrust(core, run, 'transaction')
    // Once the fire is settled, nothing can be added to its record.
    await notes.save(run)
    await commit(core, run, doing, work)
    run.committed = true
  } catch (error) {
    doing.over = true
    // An error of the store may leave the outcome unknown.
    const isOpen = !doing.thrown && doing.settled !== null
    run.committed = isOpen && (await resolveTransaction(core as Core, run, error))
    if (!run.committed) {
      run.settling = false
      throw error
    }
  } finally {
    resolve()
  }
  if (doing.settled !== null) {
    core.applied(doing.settled)
    if (leavesToPeers(core as Core, doing.settled)) {
      core.leftForPeers++
      core.beatAlarm.ring()
    }
  }
  return doing.value as Value
}

async function commit<Tx, Value>(
  core: Core<Tx>,
  run: LocalRun,
  doing: Doing<Value>,
  work: (tx: Tx) => Value | Promise<Value>,
): Promise<void> {
  const { schedule, token } = run.started.record
  await core.parts.sync('transaction:sent')
  // The work may take any time; the store's own calls before and after it have a deadline.
  const deadline = storeDeadline(core, 'a transaction')
  const answer = core.parts.store.transact<Value>({
    schedule,
    token,
    work(tx) {
      // The transaction began after its caller gave up: it must not continue.
      if (doing.over) throw new Error('This transaction was given up.')
      deadline.pause()
      return watched(work, tx, doing, deadline.resume)
    },
    settle(state, now, value) {
      // A jump of the wall clock needs no wait here: this transaction has read the run's state itself.
      const isWanted = !doing.over && core.lease.trusted()
      const decision = isWanted
        ? settle(state, succeeded(run, value), core.context({ now, epoch: core.parts.store.info.epoch }))
        : STALE
      if (decision === STALE) return null
      doing.settled = decision
      doing.value = value
      return decision.change
    },
  })
  // A late answer is ignored.
  answer.catch(() => {})
  try {
    const first = await Promise.race([answer, deadline.passed])
    if (first.kind === 'stale') throw fenced(core as Core, run, 'transaction')
  } finally {
    deadline.end()
  }
}

function succeeded(run: LocalRun, value: unknown): Settlement {
  const { token } = run.started.record
  const result = toJson(value, LIMITS.result)
  const kept = result.kind === 'json' ? result.json : null
  return withStart(run, {
    token,
    ending: ending('completed'),
    error: null,
    result: kept,
    retryable: false,
    handBack: null,
  })
}

/** Synchronous work stays synchronous: some stores require it. */
function watched<Tx, Value>(
  work: (tx: Tx) => Value | Promise<Value>,
  tx: Tx,
  doing: { thrown: boolean },
  ended: () => void,
): Value | Promise<Value> {
  const failed = (error: unknown): never => {
    doing.thrown = true
    throw error
  }
  try {
    const value = work(tx)
    if (!(value instanceof Promise)) {
      ended()
      return value
    }
    return value.catch(failed).finally(ended)
  } catch (error) {
    ended()
    return failed(error)
  }
}
