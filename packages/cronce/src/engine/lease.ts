import type { Clock } from '../clock.ts'

/** How long this process may believe that its lease holds. */
export interface Lease {
  /** A renewal for `leaseMs` was granted, asked for at these times. */
  renewed(sent: LeaseTimes, leaseMs: number): void
  /** Checked right before anything begins or commits: after a blocked event loop, timers run too late to tell. */
  trusted(): boolean
  /** By the monotonic clock. */
  trustedUntil(): number
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

/** Before the lease ends, so that a signal is aborted while nobody else may have begun. */
const MARGIN = 1 / 15

/** So long after a hint that a process is gone it may still renew, before it is declared dead; and trusts itself meanwhile. */
export const GRACE_MS = 300

const NEVER: LeaseTimes = { mono: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }
const ALWAYS: LeaseTimes = { mono: Number.POSITIVE_INFINITY, wall: Number.POSITIVE_INFINITY }

export function lease(clock: Clock): Lease {
  let until = NEVER
  let doubtedAt = Number.NEGATIVE_INFINITY
  let graceUntil = ALWAYS
  // Either clock may end the trust: the monotonic one stops while a virtual machine is suspended.
  const isBefore = ({ mono, wall }: LeaseTimes): boolean => clock.mono() < mono && clock.wall() < wall
  return {
    renewed(sent, leaseMs) {
      // Counted from before the request left, not from when the answer came. The store started its own clock somewhere
      // inside that round trip, so this deadline can only be early.
      const trustMs = leaseMs * (1 - MARGIN)
      // Also at the same monotonic time: that stands still while a machine is suspended, and the wall clock does not.
      if (sent.mono + trustMs >= until.mono) until = { mono: sent.mono + trustMs, wall: sent.wall + trustMs }
    },
    trusted: () => isBefore(until) && isBefore(graceUntil),
    trustedUntil: () => Math.min(until.mono, graceUntil.mono),
    times: () => ({ mono: clock.mono(), wall: clock.wall() }),
    doubt() {
      doubtedAt = clock.mono()
      // A second doubt within the grace of the first does not make it longer.
      if (graceUntil === ALWAYS) graceUntil = { mono: doubtedAt + GRACE_MS, wall: clock.wall() + GRACE_MS }
    },
    doubted: () => graceUntil !== ALWAYS,
    believed(sent) {
      if (sent.mono >= doubtedAt) graceUntil = ALWAYS
    },
    end() {
      until = NEVER
    },
  }
}
