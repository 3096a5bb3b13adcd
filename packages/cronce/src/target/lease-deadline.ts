import type { RunLease } from '../engine/parts.ts'

/** When the trust in a lease ends, by clocks that all processes of a machine share: however late somebody hears of it. */
export interface LeaseDeadline {
  /** Counts while a process is stopped, but not while the machine is suspended. */
  readonly mono: number
  /** Counts then, too. */
  readonly wall: number
  /** So long after that nobody else can have begun. */
  readonly spareMs: number
}

/** Every claim of the scheduler renews its lease. It is told of when it gives more by this part of all that is left. */
const WORTH_TELLING = 1 / 10

/** Not `performance.now()`, which every process counts from its own start. */
function machineMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}

/** Tell when the trust ends: now, and whenever that has changed. Returns how to end it. */
export function tellDeadlines(lease: RunLease, tell: (deadline: LeaseDeadline) => void): () => void {
  let told = deadlineOf(lease)
  tell(told)
  return lease.onChange(() => {
    const next = deadlineOf(lease)
    const enoughMs = msLeft(next) * WORTH_TELLING
    const isWorthIt = (moreMs: number): boolean => moreMs < 0 || moreMs > enoughMs
    if (!isWorthIt(next.mono - told.mono) && !isWorthIt(next.wall - told.wall)) return
    told = next
    tell(next)
  })
}

function deadlineOf(lease: RunLease): LeaseDeadline {
  // The clocks first: should this process be paused in between, the deadline is early rather than late.
  const mono = machineMs()
  const wall = Date.now()
  const { trustMs, spareMs } = lease.left()
  return { mono: mono + trustMs, wall: wall + trustMs, spareMs }
}

/** Negative: it is over for so long. */
export function msLeft({ mono, wall }: Pick<LeaseDeadline, 'mono' | 'wall'>): number {
  return Math.min(mono - machineMs(), wall - Date.now())
}
