import type { Clock } from '../clock.ts'

/** How long this process may believe that its lease holds. */
export interface Lease {
  /** A renewal for `leaseMs` was granted, asked for at these times. */
  renewed(sent: LeaseTimes, leaseMs: number): void
  /** Checked right before anything begins or commits: after a blocked event loop, timers run too late to tell. */
  trusted(): boolean
  /** By the monotonic clock. */
  trustedUntil(): number
  /** By whichever clock says less. */
  left(): LeaseLeft
  /** Call this whenever more or less of it is left than there was. Returns how to end that. */
  onChange(tell: () => void): () => void
  /** What `renewed` wants, taken before the request leaves. */
  times(): LeaseTimes
  /** The others may take this process for gone: it is trusted for the grace only, until a beat from now on is answered. */
  doubt(): void
  /** It is trusted for the grace only, if at all. */
  doubted(): boolean
  /** A beat that was sent then was answered. A claim is not enough: only a beat tells the store of a lost session. */
  believed(sent: LeaseTimes): void
  end(): void
}

export interface LeaseTimes {
  readonly mono: number
  readonly wall: number
}

export interface LeaseLeft {
  readonly trustMs: number
  /** After that, nobody else can have begun for so long: whoever was at work may be gone by then at the latest. */
  readonly spareMs: number
}

/** Before the lease ends, so that a signal is aborted while nobody else may have begun. */
const MARGIN = 1 / 15

/** So long after a hint that a process is gone it may still renew, before it is declared dead; and trusts itself meanwhile. */
export const GRACE_MS = 300

/** Of the time between trust and lease. The rest is for those who end things a little late. */
const SPARE = 1 / 2

/**
 * After the grace. Whoever takes over gives the run back, claims it and starts a process or a thread for it, which together takes
 * longer than this: what runs in neither is not watched from outside.
 */
const DOUBTED_SPARE_MS = 50

const NEVER: LeaseTimes = { mono: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }
const ALWAYS: LeaseTimes = { mono: Number.POSITIVE_INFINITY, wall: Number.POSITIVE_INFINITY }

export function lease(clock: Clock): Lease {
  let until = NEVER
  let doubtedAt = Number.NEGATIVE_INFINITY
  let graceUntil = ALWAYS
  let spareMs = 0
  const listeners = new Set<() => void>()
  const changed = (): void => {
    for (const tell of listeners) tell()
  }
  // Either clock may end the trust: the monotonic one stops while a virtual machine is suspended.
  const isBefore = ({ mono, wall }: LeaseTimes): boolean => clock.mono() < mono && clock.wall() < wall
  const leftOf = ({ mono, wall }: LeaseTimes): number => Math.min(mono - clock.mono(), wall - clock.wall())
  return {
    renewed(sent, leaseMs) {
      // Counted from before the request left, not from when the answer came. The store started its own clock somewhere
      // inside that round trip, so this deadline can only be early.
      const trustMs = leaseMs * (1 - MARGIN)
      // Also at the same monotonic time: that stands still while a machine is suspended, and the wall clock does not.
      if (sent.mono + trustMs < until.mono) return
      until = { mono: sent.mono + trustMs, wall: sent.wall + trustMs }
      spareMs = leaseMs * MARGIN * SPARE
      changed()
    },
    trusted: () => isBefore(until) && isBefore(graceUntil),
    trustedUntil: () => Math.min(until.mono, graceUntil.mono),
    left() {
      const own = leftOf(until)
      const doubted = leftOf(graceUntil)
      const trustMs = Math.max(0, Math.min(own, doubted))
      const goneByMs = Math.min(own + spareMs, doubted + DOUBTED_SPARE_MS)
      return { trustMs, spareMs: Math.max(0, goneByMs - trustMs) }
    },
    onChange(tell) {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    times: () => ({ mono: clock.mono(), wall: clock.wall() }),
    doubt() {
      doubtedAt = clock.mono()
      // A second doubt within the grace of the first does not make it longer.
      if (graceUntil === ALWAYS) graceUntil = { mono: doubtedAt + GRACE_MS, wall: clock.wall() + GRACE_MS }
      changed()
    },
    doubted: () => graceUntil !== ALWAYS,
    believed(sent) {
      if (sent.mono < doubtedAt || graceUntil === ALWAYS) return
      graceUntil = ALWAYS
      changed()
    },
    end() {
      until = NEVER
    },
  }
}
