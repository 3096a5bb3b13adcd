import type { Clock } from '../../clock.ts'
import type { Instant } from '../../model/schedule.ts'
import type { LeaseClock } from '../../store/store.ts'

/** How long this process may trust that the store still honours its lease. */
export interface Lease {
  /** The store granted a renewal for `leaseMs` that was requested at these times. `now`: the store's clock in its answer. */
  renewed(sent: LeaseTimes, leaseMs: number, now: Instant): void
  /**
   * Whether no peer can have declared this instance dead before the store's clock reached `startAt`. Either a renewal was answered at or
   * after that time, or one was requested so recently that a peer, which must see no renewal for the grace, can't have done so yet.
   */
  holdsUntil(startAt: Instant): boolean
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

/** How old a renewal may be that keeps peers from declaring this instance dead: the grace, less what the start of a handler takes. */
const FRESH_MS = GRACE_MS - 30

const NO_RENEWAL = { at: Number.NEGATIVE_INFINITY, storeNow: Number.NEGATIVE_INFINITY }

/** The part of the margin in which child processes must end. The rest covers those that end a little late. */
const SPARE = 1 / 2

/**
 * After the grace. Recovering the run, claiming it and starting a process or a thread for it takes longer than this; work that runs
 * in neither is not watched from outside.
 */
const DOUBTED_SPARE_MS = 50

/** A jump of the wall clock below this size hides no pause that the margin does not cover. */
const JUMP = MARGIN / 2

export function lease(clock: Clock, expiresBy: LeaseClock): Lease {
  const now = clock[expiresBy]
  let until = Number.NEGATIVE_INFINITY
  /** When the last renewal was requested, and the store's clock in its answer. */
  let renewal = NO_RENEWAL
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
    renewed(sent, leaseMs, storeNow) {
      if (sent.at >= renewal.at) renewal = { at: sent.at, storeNow }
      // Counted from before the request left, not from when the answer came. The store started its own clock somewhere
      // inside that round trip, so this deadline can only be early.
      const trustMs = leaseMs * (1 - MARGIN)
      if (sent.at + trustMs < until) return
      until = sent.at + trustMs
      spareMs = leaseMs * MARGIN * SPARE
      jumpMs = leaseMs * JUMP
      changed()
    },
    holdsUntil: (startAt) => now() - renewal.at < FRESH_MS || renewal.storeNow >= startAt,
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
      renewal = NO_RENEWAL
    },
  }
}
