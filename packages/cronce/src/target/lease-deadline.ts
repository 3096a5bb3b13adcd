import { uptime } from 'node:os'
import type { RunLease } from '../engine/parts.ts'

/**
 * When the trust in a lease ends, by clocks that all processes of a machine share, so that a child process can tell however late it
 * reads this. The wall clock is not among them: setting it must not end runs.
 */
export interface LeaseDeadline {
  /** Counts while a process is stopped, but on Linux not while the machine is suspended. */
  readonly mono: number
  /** Counts then, too. `null`: the lease expires by the monotonic clock, which stands still for all holders alike. */
  readonly boot: number | null
  /** For this long after the deadline, no other instance can have started the run again. */
  readonly spareMs: number
}

/** Every claim of the scheduler renews its lease. A later deadline is sent only if it adds this part of the time that is left. */
const WORTH_TELLING = 1 / 10

/** Not `performance.now()`, which every process counts from its own start. */
function machineMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}

/** Of the machine, suspension included. Elsewhere than on Linux the monotonic clock includes it, and the uptime may be set. */
function bootMs(): number {
  return process.platform === 'linux' ? uptime() * 1_000 : machineMs()
}

/** Send the deadline now, and whenever it has changed by enough. Returns how to stop. */
export function tellDeadlines(lease: RunLease, tell: (deadline: LeaseDeadline) => void): () => void {
  let told = deadlineOf(lease)
  tell(told)
  return lease.onChange(() => {
    const next = deadlineOf(lease)
    const moreMs = next.mono - told.mono
    if (moreMs >= 0 && moreMs <= msLeft(next) * WORTH_TELLING) return
    told = next
    tell(next)
  })
}

function deadlineOf(lease: RunLease): LeaseDeadline {
  // The clocks first: if this process is paused in between, the deadline is early rather than late.
  const mono = machineMs()
  const boot = bootMs()
  const { trustMs, spareMs, clock } = lease.left()
  return { mono: mono + trustMs, boot: clock === 'boot' ? boot + trustMs : null, spareMs }
}

/** Negative: the deadline passed that long ago. */
export function msLeft({ mono, boot }: Pick<LeaseDeadline, 'mono' | 'boot'>): number {
  const byMono = mono - machineMs()
  return boot === null ? byMono : Math.min(byMono, boot - bootMs())
}
