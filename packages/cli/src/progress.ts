import { formatCount } from './format.ts'
import type { Io } from './io.ts'
import { cutTo } from './output.ts'
import { sanitize } from './terminal.ts'

/** A line on stderr that is rewritten, for people who watch. Nothing without a terminal. */
export interface ProgressLine {
  show(text: string): void
  /** Take it away, before anything else is printed. */
  clear(): void
}

const EVERY_MS = 100

export function progressLine(io: Io): ProgressLine {
  if (!io.isErrTTY) return { show: () => {}, clear: () => {} }
  let shownAt = Number.NEGATIVE_INFINITY
  let isShown = false
  return {
    show(text) {
      const now = performance.now()
      if (isShown && now - shownAt < EVERY_MS) return
      shownAt = now
      isShown = true
      // One column less: a full line would wrap, and could not be taken away.
      io.err(`\r\x1b[2K${io.paintErr('dim', cutTo(sanitize(text), (io.columns ?? 80) - 1))}`)
    },
    clear() {
      if (!isShown) return
      isShown = false
      io.err('\r\x1b[2K')
    },
  }
}

const SHOW_FROM = 20

/** `judged 120 of 4,000`: the same for something that is done many times, if that is worth watching. */
export function countSteps(io: Io, verb: string, total: number): { step(): void; end(): void } {
  const line = progressLine(io)
  let done = 0
  return {
    step() {
      done++
      if (total >= SHOW_FROM) line.show(`${verb} ${formatCount(done)} of ${formatCount(total)}`)
    },
    end: () => line.clear(),
  }
}
