import { readCommand } from '../client/read-command.ts'
import { readName } from '../client/read-name.ts'
import { isRecord, readDuration } from '../client/read-option.ts'
import type { Duration } from '../client/schedule-options.ts'
import type { Instance } from '../engine/instance.ts'
import type { RunHandle } from '../engine/parts.ts'
import type { Begun } from '../engine/run/exclusive-run.ts'
import { CronceError } from '../errors.ts'
import { LOCK_JOB } from '../model/exclusive-jobs.ts'
import { enter, isWithin } from '../run/call-chain.ts'
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

/** Options of `app.lock()` and `app.tryLock()`. */
export interface LockOptions {
  /** How long to wait while another caller holds the lock, up to a day; 0: not at all. @default '30s' */
  readonly wait?: Duration | undefined
  /** Gives up waiting, and aborts `lock.signal`. */
  readonly signal?: AbortSignal | undefined
}

/** What an exclusive section gets. */
export interface Lock {
  readonly name: string
  /** Higher than that of every earlier holder: for resources that can refuse older ones. */
  readonly token: bigint
  /** Aborted when the lock can't be trusted any more, or the instance stops. */
  readonly signal: AbortSignal
}

/** The answer of `app.tryLock()`: whether the section ran, and what it returned. */
export type Tried<Value> =
  | { readonly acquired: true; readonly value: Value }
  /** The holder of the lock, and since when, as the store saw it. */
  | { readonly acquired: false; readonly holder: { readonly instance: string; readonly since: number } | null }

/** Locks, as methods of an app. */
export interface Locks {
  /**
   * LOCK_BUSY if another holder keeps it for longer than `wait`; LOCK_LOST if it was lost before the section ended. LOCK_NESTED
   * if the section that holds it asks for it again.
   */
  lock<Value>(name: string, work: (lock: Lock) => Value | Promise<Value>): Promise<Value>
  lock<Value>(name: string, options: LockOptions, work: (lock: Lock) => Value | Promise<Value>): Promise<Value>
  /** Without waiting. */
  tryLock<Value>(name: string, work: (lock: Lock) => Value | Promise<Value>): Promise<Tried<Value>>
}

const NAME_LIMIT = 180

/** The section: runs while the lock is held. */
type Work<Value> = (lock: Lock) => Value | Promise<Value>

export function makeLocks<Tx>(parts: ExclusiveParts<Tx>): Locks {
  const sections = new LockSections(parts)
  return {
    lock: <Value>(name: string, first: unknown, second?: unknown) =>
      parts.keepAlive(() => sections.acquire<Value>(name, first, second)),
    tryLock: <Value>(name: string, work: unknown) => parts.keepAlive(() => sections.tryOnce<Value>(name, work)),
  }
}

/** Runs the exclusive sections of one app. Callers of this process that want the same lock wait in line. */
class LockSections<Tx> {
  readonly #parts: ExclusiveParts<Tx>
  readonly #line = new WaitingLine()

  constructor(parts: ExclusiveParts<Tx>) {
    this.#parts = parts
  }

  async acquire<Value>(name: string, first: unknown, second?: unknown): Promise<Value> {
    const parts = this.#parts
    const line = this.#line
    const id = readName('lock', name, NAME_LIMIT)
    const { waitMs, signal } = readOptions(second === undefined && !isRecord(first) ? {} : first)
    const work = readWork<Value>(second ?? first)
    const until = parts.mono() + waitMs
    const engine = parts.engine()
    if (isWithin(line, id)) throw nested(id)
    const turn = line.join(id)
    try {
      // A caller whose time is up still has its one attempt: then the error can name the holder.
      await untilTurn(parts, engine, turn, until, signal)
      for (let tries = 0; ; tries++) {
        signal?.throwIfAborted()
        const since = engine.wakeUps
        // A caller that does not wait has one attempt, which takes as long as the store takes.
        const ms = waitMs === 0 ? Number.POSITIVE_INFINITY : until - parts.mono()
        const tried = await begunInTime(parts, { ms, signal, late: () => silent(id) }, (begin) =>
          this.#attempt(engine, id, (lock) => {
            begin()
            return enter(line, id, () => work(signal === undefined ? lock : within(lock, signal)))
          }),
        )
        if (tried.acquired) return tried.value
        const leftMs = until - parts.mono()
        if (leftMs <= 0) throw busy(id, tried.holder)
        await untilNext(parts, engine, Math.min(leftMs, patienceMs(tries, parts.random)), since, signal)
      }
    } finally {
      line.leave(id, turn)
    }
  }

  async tryOnce<Value>(name: string, work: unknown): Promise<Tried<Value>> {
    const id = readName('lock', name, NAME_LIMIT)
    const section = readWork<Value>(work)
    return this.#attempt(this.#parts.engine(), id, (lock) => enter(this.#line, id, () => section(lock)))
  }

  async #attempt<Value>(engine: Instance<Tx>, name: string, work: Work<Value>): Promise<Tried<Value>> {
    const begun = await this.#begin(engine, name, work)
    if (begun.kind === 'refused') throw refusedError(begun)
    if (begun.kind !== 'begun') return { acquired: false, holder: holderOf(begun) }
    const finished = await begun.ended
    if (finished.kind === 'unbegun') return { acquired: false, holder: null }
    const isKept = finished.kind !== 'over' && finished.settled === 'settled'
    if (isKept && finished.kind === 'done') return { acquired: true, value: finished.value }
    if (isKept && finished.kind === 'threw') throw finished.error
    throw new CronceError('LOCK_LOST', `The lock ${JSON.stringify(name)} was lost before its section ended.`, {
      hint: 'Another process may have held it meanwhile: check lock.token where you write, and stop when lock.signal is aborted.',
      ...(finished.kind === 'threw' ? { cause: finished.error } : {}),
    })
  }

  #begin<Value>(engine: Instance<Tx>, name: string, work: Work<Value>): Promise<Begun<Value>> {
    const wanted = {
      schedule: `${LOCK_JOB}:${name}`,
      definition: exclusiveDefinition(LOCK_JOB, DAY_MS),
      ...{ dueAt: null, nonce: this.#parts.newId(), beside: false },
    }
    demandLasting(engine, `The section of the lock ${JSON.stringify(name)}`)
    return engine.take(wanted, 'section', async (handle) => work(lockOf(name, handle)))
  }
}

function lockOf<Tx>(name: string, handle: RunHandle<Tx>): Lock {
  return {
    name,
    token: BigInt(handle.started.record.token),
    get signal() {
      return handle.signal
    },
  }
}

function within(lock: Lock, signal: AbortSignal): Lock {
  return { name: lock.name, token: lock.token, signal: AbortSignal.any([lock.signal, signal]) }
}

function holderOf(begun: Begun<unknown>): { readonly instance: string; readonly since: number } | null {
  const run = begun.kind === 'held' ? begun.state.open[0]?.run : null
  return run === null || run === undefined ? null : { instance: run.instance, since: run.startedAt }
}

function busy(name: string, holder: ReturnType<typeof holderOf>): CronceError {
  const who = holder === null ? '' : `: ${holder.instance} has it since ${new Date(holder.since).toISOString()}`
  return new CronceError('LOCK_BUSY', `The lock ${JSON.stringify(name)} could not be acquired in time${who}.`, {
    hint: 'Wait longer, or use tryLock, which does not wait.',
  })
}

function silent(name: string): CronceError {
  return new CronceError(
    'LOCK_BUSY',
    `The lock ${JSON.stringify(name)} could not be acquired in time: the store did not answer.`,
    {
      hint: 'Within a transaction the lock needs a second connection: enlarge the pool, or take the lock before the transaction.',
    },
  )
}

function nested(name: string): CronceError {
  return new CronceError('LOCK_NESTED', `The lock ${JSON.stringify(name)} is held by the section that asks for it.`, {
    hint: 'Locks are not re-entrant: call the inner function directly, or take the lock after the section.',
  })
}

function readWork<Value>(work: unknown): Work<Value> {
  if (typeof work === 'function') return work as Work<Value>
  throw new CronceError('HANDLER_MISSING', 'A lock needs a function to run while it is held.', {
    hint: "Write app.lock('reindex', async (lock) => { … }).",
  })
}

function readOptions(options: unknown): { readonly waitMs: number; readonly signal: AbortSignal | undefined } {
  const given = isRecord(options) ? Object.keys(options) : []
  const limit = given.find((name) =>
    /^(ttl|timeout|lease|duration|expires?|expiry|maxAge|lockAtMostFor)(Ms|In)?$/i.test(name),
  )
  if (limit !== undefined) {
    throw new CronceError('OPTION_UNKNOWN', `There is no option ${JSON.stringify(limit)}.`, {
      hint: 'Leave it out: the lock is held until its function ends, or until the instance dies. How long to wait for it is wait.',
    })
  }
  const { wait, signal } = readCommand(options, ['wait', 'signal'])
  return {
    waitMs: readDuration('wait', wait ?? 30_000, { min: 0, max: DAY_MS, usual: 30_000 }),
    signal: readSignal(signal),
  }
}
