import { randomUUID } from 'node:crypto'
import { StoreError } from '../store-error.ts'
import { type Row, within } from './drivers/connection.ts'
import { aborted } from './drivers/pg.ts'
import { idleEnded, isIdleEnd, noConnection, silent, sqlStateOf, translate } from './errors.ts'
import { notOpen, queryIn } from './tx.ts'

/** Opens a transaction, calls `work` with it, and commits if that resolves. */
export type OpenTransaction = <Value>(work: (tx: unknown) => Promise<Value>) => Promise<Value>

export interface TransactionPlan {
  /** Name of the database, for messages. */
  readonly name: string
  readonly open: OpenTransaction
  /** For the server's part before and after the work; the work may take any time. */
  readonly timeoutMs: number
  /** The caller gave up: end the connection, if it is known. */
  readonly abandon: () => void
}

/** As long as a lease: a process that is paused within a transaction must not block peers with its row locks. */
const IDLE_MS = 15_000

/** Set for this transaction only. A shorter timeout of the caller is kept. Does not read pg_settings, which lists every setting. */
const MARK = `
select set_config('cronce.transaction', $1::text, true) as answer,
       case when current_setting('idle_in_transaction_session_timeout')::interval between '1 ms' and '${IDLE_MS} ms'
            then current_setting('idle_in_transaction_session_timeout') else set_config('idle_in_transaction_session_timeout', '${IDLE_MS}', true) end as idle`
const MARKED = "select current_setting('cronce.transaction', true) as answer"

/**
 * The user's own transaction, of any library: errors of `work` are thrown unchanged, and every other failure tells whether
 * anything can have been committed.
 */
export async function runTransaction<Value>(
  { name, open, timeoutMs, abandon }: TransactionPlan,
  work: (tx: unknown, requireOpen: () => Promise<void>) => Promise<Value>,
): Promise<Value> {
  const doing = new Doing(name, timeoutMs, abandon)
  let idleLimit = `${IDLE_MS / 1_000}s`
  const outcome: { thrown?: { readonly error: unknown }; value?: { readonly value: Value } } = {}
  const opened = open(async (tx) => {
    doing.begun()
    const mark = randomUUID()
    const { idle = idleLimit } = await ask(tx, MARK, [mark], timeoutMs, name)
    idleLimit = String(idle)
    let isChecked = false
    const requireOpen = async (): Promise<void> => {
      isChecked = true
      await requireMark(tx, mark, timeoutMs, name)
    }
    try {
      const value = await work(tx, requireOpen)
      outcome.value = { value }
    } catch (error) {
      outcome.thrown = { error }
      throw error
    } finally {
      doing.worked()
    }
    if (!isChecked) await requireOpen()
    doing.ready()
  })
  try {
    await Promise.race([opened, doing.overdue])
  } catch (error) {
    // The user's error is about a connection that is gone, and does not say why.
    if (isIdleEnd(error)) throw idleEnded(idleLimit, error)
    if (outcome.thrown !== undefined) throw outcome.thrown.error
    throw doing.explain(error)
  } finally {
    doing.end()
    opened.catch(() => {})
  }
  if (outcome.thrown !== undefined) throw outcome.thrown.error
  if (outcome.value === undefined) throw notOpen('The option transaction did not call the function that it was given.')
  return outcome.value.value
}

/** How far a transaction has got, and how long the rest may take. */
class Doing {
  readonly overdue: Promise<never>
  readonly #name: string
  readonly #timeoutMs: number
  readonly #fail: (error: unknown) => void
  readonly #abandon: () => void
  #timer: NodeJS.Timeout
  #isOver = false
  #phase: 'opening' | 'working' | 'committing' = 'opening'

  constructor(name: string, timeoutMs: number, abandon: () => void) {
    this.#name = name
    this.#timeoutMs = timeoutMs
    this.#abandon = abandon
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => {})
    this.overdue = promise
    this.#fail = reject
    this.#timer = this.#start()
  }

  begun(): void {
    if (this.#isOver) throw new Error('This transaction was given up before it began.')
    this.#phase = 'working'
    clearTimeout(this.#timer)
  }

  worked(): void {
    this.#timer = this.#start()
  }

  ready(): void {
    if (this.#isOver) throw new Error('This transaction was given up.')
    this.#phase = 'committing'
  }

  end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }

  /** A failure outside of the user's work. */
  explain(error: unknown): unknown {
    if (sqlStateOf(error) === '25P02') return aborted(error)
    if (this.#phase === 'committing') return translate(error, this.#name, 'sent')
    const told = translate(error, this.#name, this.#phase === 'opening' ? 'connecting' : 'in transaction')
    if (!(told instanceof StoreError) || told.notApplied || told.code === 'TRANSACTION_ENDED') return told
    // Without a commit nothing of it remains.
    return new StoreError(told.code, told.message, { hint: told.hint, cause: told.cause, notApplied: true })
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => {
      setImmediate(() => {
        if (this.#isOver) return
        this.#isOver = true
        this.#fail(
          this.#phase === 'opening'
            ? noConnection(this.#name, `no transaction could begin within ${this.#timeoutMs} ms`)
            : silent(this.#name, this.#timeoutMs, this.#phase !== 'committing'),
        )
        this.#abandon()
      })
    }, this.#timeoutMs)
  }
}

async function requireMark(tx: unknown, mark: string, timeoutMs: number, name: string): Promise<void> {
  try {
    if ((await ask(tx, MARKED, [], timeoutMs, name)).answer === mark) return
  } catch (error) {
    // A statement failed in the transaction, and the caller went on.
    throw sqlStateOf(error) === '25P02' ? aborted(error) : error
  }
  throw new StoreError('TRANSACTION_ENDED', 'The function given to transaction() ended the transaction itself.', {
    hint: 'Leave begin, commit and rollback to cronce; throw to roll back.',
    notApplied: false,
  })
}

async function ask(
  tx: unknown,
  text: string,
  values: readonly string[],
  timeoutMs: number,
  name: string,
): Promise<Row> {
  const rows = await within(queryIn(tx)(text, values), timeoutMs, () => {
    throw silent(name, timeoutMs, true)
  })
  return rows[0] ?? {}
}
