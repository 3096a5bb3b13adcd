import { type LeaseDeadline, msLeft } from '../lease-deadline.ts'

/** The deadline in memory that scheduler and thread share: a message would not be read while either computes. */
export type LeaseCells = Float64Array<SharedArrayBuffer>

/** Timers stand still while the machine is suspended: how soon afterwards the time is checked. */
const LOOK_MS = 1_000

export function leaseCells(): LeaseCells {
  return new Float64Array(new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT)).fill(Number.POSITIVE_INFINITY)
}

export function writeDeadline(cells: LeaseCells, { mono, boot, spareMs }: LeaseDeadline): void {
  cells.set([mono, boot ?? Number.POSITIVE_INFINITY, spareMs])
}

function readDeadline(cells: LeaseCells): LeaseDeadline {
  const [mono = 0, boot = 0, spareMs = 0] = cells
  return { mono, boot, spareMs }
}

export function isOver(cells: LeaseCells): boolean {
  return msLeft(readDeadline(cells)) <= 0
}

/**
 * In the thread, whose scheduler may have its event loop blocked: asks it to end when the lease can't be trusted any more, and ends
 * it before a peer may start the run. A thread that computes without a pause meanwhile can't be ended in time.
 */
export function watchLease(cells: LeaseCells, { ask, end }: { ask(): void; end(): void }): void {
  const deadline = readDeadline(cells)
  const leftMs = msLeft(deadline)
  if (leftMs <= 0) ask()
  const untilEndMs = leftMs + (leftMs <= 0 ? deadline.spareMs : 0)
  if (untilEndMs <= 0) end()
  else setTimeout(() => watchLease(cells, { ask, end }), Math.min(untilEndMs, LOOK_MS)).unref()
}
