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
  end(): void
}

export interface LeaseTimes {
  readonly mono: number
  readonly wall: number
}

/** Before the lease ends, so that a signal is aborted while nobody else may have begun. */
const MARGIN = 1 / 15

export function lease(clock: Clock): Lease {
  let until: LeaseTimes = { mono: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }
  return {
    renewed(sent, leaseMs) {
      // Counted from before the request left, not from when the answer came. The store started its own clock somewhere
      // inside that round trip, so this deadline can only be early.
      const trustMs = leaseMs * (1 - MARGIN)
      // Also at the same monotonic time: that stands still while a machine is suspended, and the wall clock does not.
      if (sent.mono + trustMs >= until.mono) until = { mono: sent.mono + trustMs, wall: sent.wall + trustMs }
    },
    // Either clock may end the trust: the monotonic one stops while a virtual machine is suspended.
    trusted: () => clock.mono() < until.mono && clock.wall() < until.wall,
    trustedUntil: () => until.mono,
    times: () => ({ mono: clock.mono(), wall: clock.wall() }),
    end() {
      until = { mono: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }
    },
  }
}
