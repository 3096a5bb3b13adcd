import { readCommand } from '../client/read-command.ts'
import { readName } from '../client/read-name.ts'
import { readBoolean, readDuration } from '../client/read-option.ts'
import type { Duration } from '../client/schedule-options.ts'
import type { Instance } from '../engine/instance.ts'
import type { RunHandle } from '../engine/parts.ts'
import type { Finished } from '../engine/run/exclusive-run.ts'
import { ResultRefused } from '../engine/run/run-handle.ts'
import { CronceError } from '../errors.ts'
import { bucketOf } from '../model/bucket.ts'
import { ONCE_JOB } from '../model/exclusive-jobs.ts'
import { copyJson, type Json, type Jsonified, type ReturnsJson } from '../model/json.ts'
import type { FireRecord } from '../model/record.ts'
import { refusalIn } from '../model/step-result.ts'
import { enter, isWithin } from '../run/call-chain.ts'
import { listFires } from '../store/list-views.ts'
import type { Store } from '../store/store.ts'
import {
  begunInTime,
  DAY_MS,
  demandLasting,
  type ExclusiveParts,
  exclusiveDefinition,
  patienceMs,
  readSignal,
  refusedError,
  untilNext,
  untilTurn,
} from './exclusive.ts'
import { WaitingLine } from './waiting-line.ts'

/** Options of `app.once()`. */
export interface OnceOptions {
  /** How long the result is kept, from a day to a year. All who use a key must name the same. @default '7d' */
  readonly ttl?: Duration | undefined
  /** Call `work` again even if an earlier call began it and its result is unknown. @default false */
  readonly rerun?: boolean | undefined
  /** How long to wait while another caller does the work, up to a day; then LOCK_BUSY. @default until it ends */
  readonly wait?: Duration | undefined
  /** Gives up waiting. What has begun goes on. */
  readonly signal?: AbortSignal | undefined
}

/** Keys that run a function once, as a method of an app. */
export interface Once {
  /**
   * The first caller of a key does the work, whatever process it is in; all others get its result, now and for the time to
   * live. If it throws, the next caller does it. If its process dies while `work` runs, the outcome is unknown:
   * STEP_UNKNOWN, unless `rerun`. The result is stored as JSON. One that JSON would change (a Date, a Map, an Error) is refused:
   * STEP_RESULT_INVALID, for all callers.
   */
  once<Value>(key: string, work: (() => Value | Promise<Value>) & ReturnsJson<Value>): Promise<Jsonified<Value>>
  once<Value>(
    key: string,
    options: OnceOptions,
    work: (() => Value | Promise<Value>) & ReturnsJson<Value>,
  ): Promise<Jsonified<Value>>
}

/** Name of the step in the run that does the work. */
const STEP = 'once'
const YEAR_MS = 365 * DAY_MS

interface Options {
  readonly ttlMs: number
  readonly rerun: boolean
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/** What is on record about a key. `result`: the work is done. */
interface Looked {
  readonly known: FireRecord | null
  readonly result: { readonly value: Json } | null
}

export function makeOnce<Tx>(parts: ExclusiveParts<Tx>, store: Store<Tx>): Once {
  const keys = new OnceKeys(parts, store)
  const once = (name: string, first: unknown, second?: unknown) =>
    parts.keepAlive(() => keys.obtain(name, first, second))
  // The result was stored as JSON, and the type of the work excludes values that JSON would change.
  return { once: once as Once['once'] }
}

/** Does the work of idempotency keys. Callers of this process that want the same key wait in line. */
class OnceKeys<Tx> {
  readonly #parts: ExclusiveParts<Tx>
  readonly #store: Store<Tx>
  readonly #line = new WaitingLine()

  constructor(parts: ExclusiveParts<Tx>, store: Store<Tx>) {
    this.#parts = parts
    this.#store = store
  }

  async obtain(name: string, first: unknown, second?: unknown): Promise<Json> {
    const parts = this.#parts
    const line = this.#line
    const key = readName('key', name)
    const work = readWork(second ?? first)
    const options = readOptions(second === undefined ? {} : first)
    const { waitMs, signal } = options
    const engine = parts.engine()
    const until = parts.mono() + waitMs
    demandLasting(engine, JSON.stringify(key))
    signal?.throwIfAborted()
    const place = placeOf(key, options)
    if (isWithin(line, place)) throw nested(key)
    const inTime = <Answer>(ask: (begin: () => void) => Promise<Answer>): Promise<Answer> => {
      const ms = waitMs === 0 ? Number.POSITIVE_INFINITY : until - parts.mono()
      return begunInTime(parts, { ms, signal, late: () => silent(key) }, ask)
    }
    let since = engine.wakeUps
    let looked = await inTime(() => this.#look(key, options))
    if (looked.result !== null) return looked.result.value
    const lookAgain = (): Promise<Looked> => {
      demandLasting(engine, JSON.stringify(key))
      signal?.throwIfAborted()
      since = engine.wakeUps
      return inTime(() => this.#look(key, options))
    }
    // Of the callers in this process, one at a time asks the store, and does the work if no peer does.
    const turn = line.join(place)
    try {
      if (!turn.aborted) {
        await untilTurn(parts, engine, turn, until, signal)
        looked = await lookAgain()
      }
      for (let tries = 0; looked.result === null; tries++) {
        const { known } = looked
        // A fire that ended without a result is done again. An open fire belongs to a peer.
        const again = known?.ending ? known : null
        const attempt = (begin: () => void) => this.#attempt(engine, key, options, work, again, begin)
        const done = turn.aborted ? await inTime(attempt) : null
        if (done !== null) return done.value
        const leftMs = until - parts.mono()
        if (leftMs <= 0) throw busy(key)
        await untilNext(parts, engine, Math.min(leftMs, patienceMs(tries, parts.random)), since, signal)
        looked = await lookAgain()
      }
      return looked.result.value
    } finally {
      line.leave(place, turn)
    }
  }

  /** Does the work, unless another caller is doing it. `again`: the fire that ended without a result, and is now repeated. */
  async #attempt(
    engine: Instance<Tx>,
    key: string,
    options: Options,
    work: () => unknown,
    again: FireRecord | null,
    begin: () => void,
  ): Promise<Looked['result']> {
    const wanted = {
      ...{ schedule: scheduleOf(key, options), definition: exclusiveDefinition(ONCE_JOB, options.ttlMs) },
      ...{ dueAt: null, nonce: key, beside: true },
      ...(again === null ? {} : { again }),
    }
    demandLasting(engine, JSON.stringify(key))
    const begun = await engine.take(wanted, 'section', async (handle) => {
      begin()
      return doOnce(key, handle, () => enter(this.#line, placeOf(key, options), work), options)
    })
    if (begun.kind === 'begun') return resultFrom(key, await begun.ended)
    if (begun.kind === 'refused') throw refusedError(begun)
    return null
  }

  async #look(key: string, options: Options): Promise<Looked> {
    const known = await this.#find(key, options)
    const isDone = known?.ending?.outcome === 'succeeded'
    const result = isDone ? await this.#resultOf(key, known) : null
    if (isDone && result === null && !options.rerun) throw resultLost(key)
    return { known, result }
  }

  /** The fire of the key, if there is one. Reading is cheap, and mostly the work is done already. */
  async #find(key: string, options: Options): Promise<FireRecord | null> {
    const query = { schedule: scheduleOf(key, options), nonce: key, after: null, limit: 1 }
    return (await listFires(this.#store, query)).items[0] ?? null
  }

  /** `null`: the work was done, but the store has lost the acknowledged result. */
  async #resultOf(key: string, fire: FireRecord): Promise<Looked['result']> {
    const steps = await this.#store.listSteps(fire)
    const known = steps.find(({ step, state }) => step === STEP && state === 'done')
    if (known === undefined) return null
    const problem = refusalIn(known.result)
    if (problem !== null) throw new ResultRefused(nameOf(key), problem)
    return { value: copyJson(known.result) }
  }
}

/** Keys are hashed into several schedules: a single schedule would be a bottleneck for all callers. */
function scheduleOf(key: string, { ttlMs }: Options): string {
  return `${ONCE_JOB}:${ttlMs}:${bucketOf(key)}`
}

function placeOf(key: string, options: Options): string {
  return scheduleOf(key, options) + key
}

/** An overtaken run may still have recorded its result: the step says. `null`: the step was not begun. */
function resultFrom(key: string, finished: Finished<Json>): Looked['result'] {
  if (finished.kind === 'done') return { value: finished.value }
  if (finished.kind === 'threw') throw finished.error
  if (finished.kind === 'unbegun') return null
  throw new CronceError('LOCK_LOST', `The process was stopped or cut off while it did ${JSON.stringify(key)}.`, {
    hint: 'Call again: the recorded result decides.',
  })
}

/** Runs `work` as a step of the run, so that its beginning and its result are on record. */
async function doOnce<Tx>(key: string, handle: RunHandle<Tx>, work: () => unknown, { rerun }: Options): Promise<Json> {
  let isWorking = false
  const marked = async (): Promise<unknown> => {
    isWorking = true
    const value = await work()
    isWorking = false
    return value
  }
  try {
    return await handle.once(STEP, marked, { rerun })
  } catch (error) {
    // Errors of `work` are thrown unchanged. Callers of once() know keys, not steps.
    if (isWorking) throw error
    if (error instanceof ResultRefused) throw new ResultRefused(nameOf(key), error.problem)
    if (!(error instanceof CronceError) || error.code !== 'STEP_UNKNOWN') throw error
    throw new CronceError(
      'STEP_UNKNOWN',
      `It is unknown whether ${JSON.stringify(key)} was done: the process that was doing it died.`,
      {
        hint: 'Find out whether it happened; if it did not, or may happen twice, call with { rerun: true }.',
        cause: error,
      },
    )
  }
}

function nameOf(key: string): string {
  return `key ${JSON.stringify(key)}`
}

function busy(key: string): CronceError {
  return new CronceError('LOCK_BUSY', `Another caller is still working on ${JSON.stringify(key)}.`, {
    hint: 'Wait longer, or call again later: the recorded result decides.',
  })
}

function silent(key: string): CronceError {
  return new CronceError('LOCK_BUSY', `The store did not answer in time whether ${JSON.stringify(key)} can begin.`, {
    hint: 'Call again. Within a transaction the key needs a second connection: enlarge the pool, or call it before.',
  })
}

function nested(key: string): CronceError {
  return new CronceError(
    'ONCE_NESTED',
    `once(${JSON.stringify(key)}) was called within its own work, and would wait for itself.`,
    { hint: 'Use another key for the inner call, or call the inner function directly.' },
  )
}

function resultLost(key: string): CronceError {
  return new CronceError('STEP_UNKNOWN', `${JSON.stringify(key)} was done, but the store has lost its result.`, {
    hint: 'Find out the result; if the work may happen twice, call with { rerun: true }.',
  })
}

function readWork(work: unknown): () => unknown {
  if (typeof work === 'function') return work as () => unknown
  throw new CronceError('HANDLER_MISSING', 'The work of once() must be a function.', {
    hint: "Write app.once('order:42:email', () => send()).",
  })
}

function readOptions(options: unknown): Options {
  const { ttl, rerun, wait, signal } = readCommand(options, ['ttl', 'rerun', 'wait', 'signal'])
  return {
    ttlMs: readDuration('ttl', ttl ?? 7 * DAY_MS, { min: DAY_MS, max: YEAR_MS, usual: 7 * DAY_MS }),
    rerun: readBoolean('rerun', rerun ?? false),
    waitMs: wait === undefined ? Number.POSITIVE_INFINITY : readDuration('wait', wait, { min: 0, max: DAY_MS }),
    signal: readSignal(signal),
  }
}
