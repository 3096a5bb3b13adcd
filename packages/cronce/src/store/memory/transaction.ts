import type { Change } from '../../model/change.ts'
import { copyJson, type Json } from '../../model/json.ts'
import type { Applied, ApplyOptions } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { applyChanges } from './apply.ts'
import type { Core } from './core.ts'
import { attempt } from './journal.ts'

/**
 * What `run.transaction` passes to its function on this store: a table of the user's, by key. A read returns what was committed
 * before, and what this transaction wrote; `undefined`: there is no such row.
 */
export interface MemoryTransaction {
  get(key: string): Json | undefined
  set(key: string, value: Json): void
}

/**
 * Nothing is locked while a transaction is open. At commit its reads are compared and its decisions are made again: if another
 * transaction was faster, nothing of it is written.
 */
export interface OpenTransaction {
  readonly tx: MemoryTransaction
  readonly reads: Map<string, Json | undefined>
  readonly writes: Map<string, Json>
  /** Changes of schedules that are written with it. */
  readonly calls: Call[]
  readonly core: Core
  /** The data that it began on: a `restore` in between ends it. */
  readonly data: Core['data']
  isOver: boolean
}

interface Call {
  readonly namespace: string
  readonly changes: readonly Change[]
  readonly claimant: ApplyOptions<unknown>['claimant']
  readonly app: ApplyOptions<unknown>['app']
  readonly wake: boolean
}

const transactions = new WeakMap<MemoryTransaction, OpenTransaction>()

export function beginTransaction(core: Core): OpenTransaction {
  const check = () => {
    if (open.isOver) throw overError()
  }
  const open: OpenTransaction = {
    tx: {
      get(key) {
        check()
        if (open.writes.has(key)) return copyJson(open.writes.get(key))
        if (!open.reads.has(key)) open.reads.set(key, open.data.effects.get(key))
        return copyJson(open.reads.get(key))
      },
      set(key, value) {
        check()
        open.writes.set(key, copyJson(value))
      },
    },
    reads: new Map(),
    writes: new Map(),
    calls: [],
    core,
    data: core.data,
    isOver: false,
  }
  transactions.set(open.tx, open)
  return open
}

/** The transaction behind the `tx` of a caller. */
export function findTransaction(core: Core, tx: MemoryTransaction): OpenTransaction {
  const open = transactions.get(tx)
  if (open === undefined || open.core !== core) {
    throw new StoreError('TRANSACTION_UNKNOWN', 'The transaction belongs to another store.', {
      hint: 'Pass what the function given to transaction() was called with.',
    })
  }
  if (open.isOver) throw overError()
  return open
}

/** Read the store as the transaction sees it: with its own changes applied, which are undone afterwards. */
export function within<Value>(core: Core, open: OpenTransaction, look: () => Value): Value {
  let answer: { readonly value: Value } | undefined
  attempt(core.journal, () => {
    replay(core, open)
    answer = { value: look() }
    return false
  })
  return answer!.value
}

export function applyWithin(core: Core, open: OpenTransaction, { changes, ...call }: Call): Applied {
  const now = core.now()
  const results = within(core, open, () => applyChanges(core.space(call.namespace), now, changes, call))
  // Refused changes are not tried again: the caller got the error.
  open.calls.push({ ...call, changes: changes.filter((_, index) => results[index]!.kind === 'applied') })
  return { now, renewed: false, results }
}

/** Writes everything, including what `last` writes, or nothing: `last` may still cancel it. */
export function commit(core: Core, open: OpenTransaction, last: () => boolean = () => true): boolean {
  open.isOver = true
  const isCommitted = attempt(core.journal, () => {
    replay(core, open)
    for (const [key, value] of open.reads) if (core.data.effects.get(key) !== value) throw conflictError()
    for (const [key, value] of open.writes) core.setEffect(key, value)
    return last()
  })
  if (isCommitted) for (const { namespace, wake } of open.calls) if (wake) core.wake(namespace)
  return isCommitted
}

function replay(core: Core, open: OpenTransaction): void {
  if (open.data !== core.data) throw conflictError()
  for (const { namespace, changes, ...options } of open.calls) {
    const results = applyChanges(core.space(namespace), core.now(), changes, options)
    if (results.some(({ kind }) => kind !== 'applied')) throw conflictError()
  }
}

export function conflictError(): Error {
  return new StoreError('TRANSACTION_CONFLICT', 'What this transaction read was changed before it was committed.', {
    hint: 'Start it again.',
  })
}

function overError(): Error {
  return new StoreError('TRANSACTION_OVER', 'This transaction has ended.', {
    hint: 'Use it only within the function that it was given to, and await everything there.',
  })
}
