import { readCommand } from '../client/read-command.ts'
import { readName } from '../client/read-name.ts'
import { describeError } from '../engine/describe-error.ts'
import type { Instance } from '../engine/instance.ts'
import type { RunHandle } from '../engine/parts.ts'
import { CronceError } from '../errors.ts'
import { LEADER_JOB } from '../model/exclusive-jobs.ts'
import { DAY_MS, type ExclusiveParts, exclusiveDefinition, patienceMs, refusedError, untilNext } from './exclusive.ts'
import type { Logger } from './logger.ts'

/** One term as the leader. */
export interface Term {
  readonly name: string
  /** A fencing token, higher than that of every earlier leader: send it with writes, so that the receiver can reject older ones. */
  readonly term: bigint
  /** Aborted when the term is over, or can't be trusted any more. */
  readonly signal: AbortSignal
}

/** Options of `app.elect()`. */
export interface ElectOptions {
  /** This instance is the leader now. Not awaited: the term does not end with it. If it throws, the term ends. */
  readonly onElected?: ((term: Term) => unknown) | undefined
  /**
   * This instance is no longer the leader. Called as soon as the process can run at all. If the leader steps down by itself, the
   * next leader waits for this callback, for ten seconds at most.
   */
  readonly onLost?: ((term: Term) => unknown) | undefined
}

/** One instance's part in an election: resign, or ask who leads. */
export interface Election {
  readonly name: string
  /** The term, if this instance is the leader at this moment. */
  readonly term: Term | null
  /**
   * Step down if this instance leads, and do not stand again. Resolves when a peer can follow; while `onLost` is being called, at
   * once.
   */
  resign(): Promise<void>
}

/** Leader election, as methods of an app. */
export interface Elections {
  /** Stand for election, from now on or from when the app starts, until `resign()` or `stop()`; again after the next `start()`. */
  elect(name: string, options?: ElectOptions): Election
  /** Whether this instance is the leader at this moment: judged by its trust in its own lease, without asking the store. */
  isLeader(name: string): boolean
}

export interface ElectionRounds extends Elections {
  /** The app has started. */
  begin(): void
}

const NAME_LIMIT = 180
/** A wake-up ends a candidate's wait. If the wake-up is lost, the candidate checks again after this time. */
const LONGEST_MS = 5_000
/** Without a pulse for this many intervals a leader does not believe that it still leads: GRACE_MS at 100 ms each. */
const PULSES_MISSED = 3
/** After `onElected` threw: twice as long each time in a row. */
const ASIDE_MS = 500
const ASIDE_LONGEST_MS = 60_000
/** Caps the count of attempts, so that the pause stays at a few hundred milliseconds. */
const UNABLE_TRIES = 5

export function makeElections<Tx>(parts: ExclusiveParts<Tx>, logger: Logger, isStarted: () => boolean): ElectionRounds {
  const candidates = new Map<string, Candidate<Tx>>()
  return {
    elect(name, options) {
      const id = readName('election', name, NAME_LIMIT)
      if (candidates.has(id)) {
        throw new CronceError(
          'ELECTION_EXISTS',
          `This app is already a candidate in the election ${JSON.stringify(id)}.`,
          {
            hint: 'Keep what elect() returned, or resign() first.',
          },
        )
      }
      const candidate = new Candidate(parts, logger, id, readCallbacks(options), {
        forget: () => candidates.delete(id),
        isStarted,
      })
      candidates.set(id, candidate)
      if (isStarted()) candidate.stand()
      return candidate
    },
    isLeader: (name) => candidates.get(name)?.term != null,
    begin() {
      for (const candidate of candidates.values()) candidate.stand()
    },
  }
}

/** What a candidate needs to know of its app. */
interface Surroundings {
  readonly forget: () => void
  readonly isStarted: () => boolean
}

class Candidate<Tx> implements Election {
  readonly name: string
  readonly #parts: ExclusiveParts<Tx>
  readonly #logger: Logger
  readonly #options: ElectOptions
  readonly #app: Surroundings
  readonly #resigned = new AbortController()
  #current: Term | null = null
  /** Up to this time (monotonic), every event that concerns this process has been handled. */
  #heardAt = Number.NEGATIVE_INFINITY
  #standing: Promise<void> | null = null
  /** The app has started again while the previous candidacy is still ending. */
  #standsAgain = false
  #isLosing = false
  /** The last term ended because its leader could not lead. */
  #hasFailed = false

  constructor(parts: ExclusiveParts<Tx>, logger: Logger, name: string, options: ElectOptions, app: Surroundings) {
    this.name = name
    this.#parts = parts
    this.#logger = logger
    this.#options = options
    this.#app = app
  }

  get term(): Term | null {
    const term = this.#current
    if (term === null || term.signal.aborted) return null
    // Checked at the call, not by a timer: after a blocked event loop a timer would fire too late, and a lost connection would
    // not be noticed either, by which peers may have declared this process dead after the grace.
    const isHearing = this.#parts.mono() - this.#heardAt < PULSES_MISSED * this.#parts.pulseMs
    return isHearing && this.#parts.engine().trusted() ? term : null
  }

  stand(): void {
    this.#standsAgain = this.#standing !== null
    this.#standing ??= this.#rounds().finally(() => {
      this.#standing = null
      if (this.#standsAgain && !this.#resigned.signal.aborted && this.#app.isStarted()) this.stand()
    })
  }

  async resign(): Promise<void> {
    this.#app.forget()
    this.#resigned.abort()
    // A caller that resigns in onLost would wait for itself.
    if (!this.#isLosing) await this.#standing
  }

  /** Never rejects. Ends when the app stops, or when this instance resigns. */
  async #rounds(): Promise<void> {
    if (!this.#app.isStarted()) return
    const engine = this.#parts.engine()
    const resigned = this.#resigned.signal
    let failures = 0
    for (let tries = 0; !resigned.aborted && !engine.stopping; tries++) {
      const since = engine.wakeUps
      try {
        const begun = await engine.take(this.#wanted(), 'term', (handle) => this.#lead(handle))
        if (begun.kind === 'refused') throw refusedError(begun)
        if (begun.kind === 'begun') {
          const ended = await begun.ended
          if (ended.kind === 'threw') throw ended.error
          tries = 0
          failures = this.#hasFailed ? failures + 1 : 0
          if (failures > 0) await this.#stepAside(engine, failures)
        }
        // No wake-up reaches a candidate that may not lead right now, so it checks more often.
        if (begun.kind === 'unable') tries = Math.min(tries, UNABLE_TRIES)
      } catch (error) {
        this.#logger.warn(`The candidacy for ${this.name} failed: ${describeError(error).message}`)
      }
      await untilNext(this.#parts, engine, patienceMs(tries, this.#parts.random, LONGEST_MS), since, resigned)
    }
  }

  /** After a failed term this instance waits before it is a candidate again, so that a peer can lead. */
  async #stepAside(engine: Instance<Tx>, failures: number): Promise<void> {
    const until = this.#parts.mono() + Math.min(ASIDE_LONGEST_MS, ASIDE_MS * 2 ** Math.min(failures, 10))
    const { signal } = this.#resigned
    for (let leftMs = 1; leftMs > 0 && !signal.aborted && !engine.stopping; leftMs = until - this.#parts.mono()) {
      await engine.rung(until - this.#parts.mono(), signal)
    }
  }

  #wanted() {
    const definition = exclusiveDefinition(LEADER_JOB, DAY_MS)
    return {
      schedule: `${LEADER_JOB}:${this.name}`,
      definition,
      dueAt: null,
      nonce: this.#parts.newId(),
      beside: false,
    }
  }

  async #lead(handle: RunHandle<Tx>): Promise<void> {
    // Not after `take` has answered: a callback that throws at once has failed by then.
    this.#hasFailed = false
    // It resigned while it was being elected.
    if (this.#resigned.signal.aborted) return
    const stepDown = new AbortController()
    const signal = AbortSignal.any([handle.signal, this.#resigned.signal, stepDown.signal])
    const term: Term = { name: this.name, term: BigInt(handle.started.record.token), signal }
    this.#heardAt = this.#parts.mono()
    this.#current = term
    void this.#listen(signal)
    const failed = (what: string) => (error: unknown) => {
      const { stack, message } = describeError(error)
      this.#logger.error(`${what} of ${this.name} failed: ${stack ?? message}`)
      if (!signal.aborted) this.#hasFailed = true
      stepDown.abort()
    }
    void this.#call(this.#options.onElected, term).catch(failed('The callback onElected'))
    await over(signal)
    this.#current = null
    this.#isLosing = true
    const lost = this.#call(this.#options.onLost, term).catch(failed('The callback onLost'))
    await this.#unlessLonger(handle.started.policy.timeout.graceMs, lost)
    this.#isLosing = false
  }

  /** Limits how long the end of a term waits for `onLost`, so that the next leader is not held up forever. */
  async #unlessLonger(ms: number, doing: Promise<void>): Promise<void> {
    const over = new AbortController()
    const late = this.#parts.sleep(ms, over.signal).then(() => {
      if (!over.signal.aborted)
        this.#logger.warn(`The callback onLost of ${this.name} takes longer than ${ms} ms: a peer may already lead.`)
    })
    await Promise.race([doing, late])
    over.abort()
  }

  /** Never rejects. Timers alone prove nothing: pending events are processed between two of them. */
  async #listen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#parts.sleep(this.#parts.pulseMs, signal)
      const at = this.#parts.mono()
      await this.#parts.sleep(1, signal)
      if (!signal.aborted) this.#heardAt = at
    }
  }

  async #call(callback: ((term: Term) => unknown) | undefined, term: Term): Promise<void> {
    await callback?.(term)
  }
}

function over(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function readCallbacks(options: unknown): ElectOptions {
  const given = readCommand(options, ['onElected', 'onLost'])
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== 'function') {
      throw new CronceError('OPTION_INVALID', `The option ${name} must be a function.`, {
        hint: `Write elect('cache', { ${name}: (term) => { … } }).`,
      })
    }
  }
  return given as ElectOptions
}
