import type { Clock } from '../../clock.ts'
import type { LeaseClock } from '../../store/store.ts'

/** How long this process may trust that the store still honours its lease. */
export interface Lease {
  /** The store granted a renewal for `leaseMs` that was requested at these times. */
  renewed(sent: LeaseTimes, leaseMs: number): void
  /** The store has answered a renewal or a claim that was sent then: no peer can declare this instance dead by what it saw before. */
  answered(sent: LeaseTimes): void
  /**
   * Whether no peer can have declared this instance dead: a peer must see neither a renewal nor a claim for the grace, and the last one was
   * sent more recently than that. Where the store itself is slower, the arrival of its answers counts instead.
   */
  isFresh(): boolean
  /** Check this right before anything starts or commits: after a blocked event loop, timers run too late. */
  trusted(): boolean
  /** How long the lease is trusted from now on. */
  left(): LeaseLeft
  /** `tell` is called whenever `left` changes other than by time passing. Returns how to unsubscribe. */
  onChange(tell: () => void): () => void
  /** What `renewed` needs; read it before the request leaves. */
  times(): LeaseTimes
  /**
   * Peers may take this process for dead: trust the lease for the grace only, until the store answers a heartbeat that was sent
   * from now on.
   */
  doubt(): void
  /** Whether `doubt` was called and no heartbeat has been answered since. */
  doubted(): boolean
  /**
   * Whether the wall clock has jumped since the last heartbeat that was answered. The operator may have set it, or the machine was
   * frozen and the lease is lost: only the store can tell. Until a heartbeat is answered, start and commit nothing.
   */
  jumped(): boolean
  /**
   * The store answered a heartbeat that was sent then. The answer to a claim is not enough: only a heartbeat reveals a lost
   * session or a clone of this machine.
   */
  confirmed(sent: LeaseTimes): void
  end(): void
}

export interface LeaseTimes {
  readonly mono: number
  /** By the clock that the lease expires by. */
  readonly at: number
  readonly wall: number
}

export interface LeaseLeft {
  readonly trustMs: number
  /** For this long after the trust ends, no other instance can have started the run again. */
  readonly spareMs: number
  readonly clock: LeaseClock
}

/** Trust ends this part of the lease before the lease does, so that signals are aborted before another instance starts. */
const MARGIN = 1 / 15

/**
 * How long a process that seems to be dead may still renew before it is declared dead, and how long it trusts its own lease
 * meanwhile.
 */
export const GRACE_MS = 300

/** How old a claim or renewal may be that keeps peers from declaring this instance dead: the grace, less what the start of a handler takes. */
const FRESH_MS = GRACE_MS - 30

/** One slow answer may be a stall of this process. This number of slow answers in a row is a slow store. */
const SLOW_ANSWERS = 3

/** The part of the margin in which child processes must end. The rest covers those that end a little late. */
const SPARE = 1 / 2

/**
 * After the grace. Recovering the run, claiming it and starting a process or a thread for it takes longer than this; work that runs
 * in neither is not watched from outside.
 */
const DOUBTED_SPARE_MS = 50

/** A jump of the wall clock below this size hides no pause that the margin does not cover. */
const JUMP = MARGIN / 2

/** Claims and renewals that the store has answered. */
class RecentAnswers {
  #sentAt = Number.NEGATIVE_INFINITY
  #arrivedAt = Number.NEGATIVE_INFINITY
  /** How many answers in a row were slow, each to a request that was sent after the one before had arrived; and the slowest of them. */
  #slow = 0
  #slowestMs = 0
  #slowAt = Number.NEGATIVE_INFINITY

  add(sentAt: number, arrivedAt: number): void {
    this.#sentAt = Math.max(this.#sentAt, sentAt)
    this.#arrivedAt = arrivedAt
    const tookMs = arrivedAt - sentAt
    if (tookMs < FRESH_MS) {
      this.#slow = 0
      return
    }
    // A store that is slow is so again and again; what takes far longer than before is a stall.
    const isAlike = this.#slow > 0 && tookMs <= 2 * this.#slowestMs
    // One stall may have held up several answers.
    if (isAlike && sentAt < this.#slowAt) return
    this.#slow = isAlike ? this.#slow + 1 : 1
    this.#slowestMs = isAlike ? Math.max(this.#slowestMs, tookMs) : tookMs
    this.#slowAt = arrivedAt
  }

  /** From when on a peer may see no sign of this instance. */
  provenAt(): number {
    return this.#slow < SLOW_ANSWERS ? this.#sentAt : this.#arrivedAt
  }

  clear(): void {
    this.#sentAt = Number.NEGATIVE_INFINITY
    this.#arrivedAt = Number.NEGATIVE_INFINITY
  }
}

export function lease(clock: Clock, expiresBy: LeaseClock): Lease {
  const now = clock[expiresBy]
  let until = Number.NEGATIVE_INFINITY
  const answers = new RecentAnswers()
  let doubtedAt = Number.NEGATIVE_INFINITY
  let graceUntil = Number.POSITIVE_INFINITY
  let spareMs = 0
  /** The wall clock minus the monotonic one, when the last heartbeat that was answered left; `null`: none was. */
  let drift: number | null = null
  let jumpMs = 0
  let jumpedAt: number | null = null
  const listeners = new Set<() => void>()
  const changed = (): void => {
    for (const tell of listeners) tell()
  }
  return {
    answered: (sent) => answers.add(sent.at, now()),
    isFresh: () => now() - answers.provenAt() < FRESH_MS,
    renewed(sent, leaseMs) {
      // Counted from before the request left, not from when the answer came. The store started its own clock somewhere
      // inside that round trip, so this deadline can only be early.
      const trustMs = leaseMs * (1 - MARGIN)
      if (sent.at + trustMs < until) return
      until = sent.at + trustMs
      spareMs = leaseMs * MARGIN * SPARE
      jumpMs = leaseMs * JUMP
      changed()
    },
    trusted: () => now() < Math.min(until, graceUntil),
    left() {
      const own = until - now()
      const doubted = graceUntil - now()
      const trustMs = Math.max(0, Math.min(own, doubted))
      const goneByMs = Math.min(own + spareMs, doubted + DOUBTED_SPARE_MS)
      return { trustMs, spareMs: Math.max(0, goneByMs - trustMs), clock: expiresBy }
    },
    onChange(tell) {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    times: () => ({ mono: clock.mono(), at: now(), wall: clock.wall() }),
    doubt() {
      doubtedAt = clock.mono()
      // A second doubt within the grace of the first does not make it longer.
      if (graceUntil === Number.POSITIVE_INFINITY) graceUntil = now() + GRACE_MS
      changed()
    },
    doubted: () => graceUntil !== Number.POSITIVE_INFINITY,
    jumped() {
      if (jumpedAt !== null || drift === null) return jumpedAt !== null
      const mono = clock.mono()
      if (Math.abs(clock.wall() - mono - drift) > jumpMs) jumpedAt = mono
      return jumpedAt !== null
    },
    confirmed(sent) {
      drift = sent.wall - sent.mono
      if (jumpedAt !== null && sent.mono >= jumpedAt) jumpedAt = null
      if (sent.mono < doubtedAt || graceUntil === Number.POSITIVE_INFINITY) return
      graceUntil = Number.POSITIVE_INFINITY
      changed()
    },
    end() {
      until = Number.NEGATIVE_INFINITY
      answers.clear()
    },
  }
}
