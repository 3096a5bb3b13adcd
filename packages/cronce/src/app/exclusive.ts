import { optionInvalid } from '../client/read-option.ts'
import type { Taken } from '../engine/claim/claim-fire.ts'
import type { Instance } from '../engine/instance.ts'
import { WAIT_ENDED } from '../engine/wait-ended.ts'
import { CronceError } from '../errors.ts'
import { DEFAULT_POLICY } from '../model/policy.ts'
import type { Definition } from '../model/schedule.ts'
import type { Logger } from './logger.ts'

/** Shared by locks, elections and keys: their runs are begun by a caller, not because they are due. */
export interface ExclusiveParts<Tx = unknown> {
  /** The engine that has started. Throws NOT_STARTED if there is none. */
  readonly engine: () => Instance<Tx>
  readonly mono: () => number
  /** Run this, and keep the process alive until it is done: its caller awaits it. */
  readonly keepAlive: <Value>(work: () => Promise<Value>) => Promise<Value>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  /** How often a leader makes sure that its event loop is not blocked. */
  readonly pulseMs: number
  readonly random: () => number
  readonly newId: () => string
  readonly logger: Logger
}

export const MINUTE_MS = 60_000
export const DAY_MS = 86_400_000

/**
 * The schedule behind it has no trigger, and no instance declares its job, so only its caller begins a run. At most once: when a
 * process dies, its run has ended and the next caller can begin one.
 */
export function exclusiveDefinition(job: string, keepMs: number): Definition {
  return {
    job,
    trigger: null,
    input: null,
    policy: {
      guarantee: 'at-most-once',
      // There are no instants that could be late; this only bounds how long records must be kept.
      misfire: { ...DEFAULT_POLICY.misfire, windowMs: MINUTE_MS },
      // No bound by number: records are kept for their time.
      retention: { keepMs, keepMsBy: {}, count: 1_000_000_000 },
    },
    start: null,
    end: null,
    limit: null,
    tenant: null,
  }
}

const SHORTEST_MS = 10
const LONGEST_MS = 500

/** How long a waiting caller sleeps between two looks: short at first, then longer. A wake-up ends the sleep. */
export function patienceMs(tries: number, random: () => number, longestMs = LONGEST_MS): number {
  return Math.min(longestMs, SHORTEST_MS * 2 ** Math.min(tries, 20)) * (0.5 + random())
}

/** The least time between two looks of a waiting caller, however many wake-ups arrive. */
const APART_MS = 50

/**
 * Wait before the next look at the store: for a wake-up since `since` (`engine.wakeUps` before the last look), or until this time
 * has passed.
 */
export async function untilNext<Tx>(
  parts: ExclusiveParts<Tx>,
  engine: Instance<Tx>,
  ms: number,
  since: number,
  signal?: AbortSignal,
): Promise<void> {
  const from = parts.mono()
  // Random, so that callers woken by the same wake-up do not ask the store at the same moment.
  const apartMs = Math.min(ms, APART_MS * (0.5 + parts.random()))
  await engine.rung(ms, signal, since)
  const leftMs = apartMs - (parts.mono() - from)
  if (leftMs > 0 && !engine.stopping) await parts.pause(leftMs, signal ?? NEVER)
}

/** A store that is well answers within this time, so an attempt is not given up earlier, however short the wait is. */
const LEAST_ATTEMPT_MS = 1_000

/** When a caller gives up an attempt that has not begun its work: after this time (infinite: never), or when this is aborted. */
interface Patience {
  readonly ms: number
  readonly signal: AbortSignal | undefined
  readonly late: () => CronceError
}

/**
 * The result of `attempt`, which calls `begin` right before its work. If the caller has given up by then, this has rejected, and
 * the work does not start. Without it, a store that does not answer would stall callers for longer than they want to wait.
 */
export async function begunInTime<Tx, Value>(
  parts: ExclusiveParts<Tx>,
  { ms, signal, late }: Patience,
  attempt: (begin: () => void) => Promise<Value>,
): Promise<Value> {
  const begun = new AbortController()
  let isGivenUp = false
  const begin = (): void => {
    signal?.throwIfAborted()
    if (isGivenUp) throw late()
    begun.abort(WAIT_ENDED)
  }
  const attempted = attempt(begin)
  const over = signal === undefined ? begun.signal : AbortSignal.any([begun.signal, signal])
  const waited = parts.sleep(Math.max(ms, LEAST_ATTEMPT_MS), over).then(() => {
    if (begun.signal.aborted) return attempted
    isGivenUp = true
    signal?.throwIfAborted()
    throw late()
  })
  // The first of the two decides.
  attempted.catch(() => {})
  waited.catch(() => {})
  try {
    return await Promise.race([attempted, waited])
  } finally {
    begun.abort(WAIT_ENDED)
  }
}

/** Resolves when it is the caller's turn, or the time is up, by the monotonic clock. */
export async function untilTurn<Tx>(
  parts: ExclusiveParts<Tx>,
  engine: Instance<Tx>,
  turn: AbortSignal,
  until: number,
  signal?: AbortSignal,
): Promise<void> {
  const over = signal === undefined ? turn : AbortSignal.any([turn, signal])
  while (!over.aborted && !engine.stopping && parts.mono() < until)
    await engine.rung(Math.min(DAY_MS, until - parts.mono()), over)
}

export function readSignal(signal: unknown): AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return signal
  throw optionInvalid('signal', signal, 'an AbortSignal', 'Write signal: AbortSignal.timeout(5_000).')
}

const NEVER = new AbortController().signal

export function notStarted(what: string): CronceError {
  return new CronceError('NOT_STARTED', `${what} needs a started app: it lives as long as its instance.`, {
    hint: 'Call await app.start() first; an app without jobs will do.',
  })
}

/** An instance that stops starts nothing more and waits for nothing, even if the app has started again since. */
export function demandLasting<Tx>(engine: Instance<Tx>, what: string): void {
  if (!engine.stopping) return
  throw new CronceError('NOT_STARTED', `${what} did not start: the app is being stopped.`, {
    hint: 'Another instance will get it; nothing was done here.',
  })
}

export function refusedError({ code, message, hint }: Extract<Taken, { kind: 'refused' }>): CronceError {
  return new CronceError(code, message, { hint })
}

/** Internals of each app, for modules that are built on it and are not its methods. */
const partsOfApps = new WeakMap<object, ExclusiveParts>()

export function rememberExclusiveParts<Tx>(app: object, parts: ExclusiveParts<Tx>): void {
  partsOfApps.set(app, parts as ExclusiveParts)
}

/** `undefined`: it is not an app of this library. */
export function exclusivePartsOf(app: object): ExclusiveParts | undefined {
  return partsOfApps.get(app)
}
