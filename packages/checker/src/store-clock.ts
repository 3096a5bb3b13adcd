import type { ClockStep, History, Instant, Time } from './history.ts'

/** From the earliest to the latest moment at which something may have been. */
export interface Times {
  readonly from: Time
  readonly to: Time
}

/** Translates between the harness's clock and the store's, which is set now and then, also back. */
export interface StoreClock {
  /** When the store's clock showed this, or passed it: a clock that was set back shows it several times. */
  timesOf(instant: Instant): Times
  /** All that the store's clock may have shown within these times. */
  shown(from: Time, to: Time): { readonly low: Instant; readonly high: Instant }
  /** Whether this is no earlier than what the clock showed at that time, or had shown before it was set a moment ago. */
  isReached(instant: Instant, time: Time): boolean
  /** Whether the clock showed this at that time, or would have, had it not been set back less than a second before. */
  hadReached(instant: Instant, time: Time): boolean
  /** Whether the first of two times that the store wrote down was before the other one, for certain. */
  isBefore(first: Instant, second: Instant): boolean
  readonly wasSetBack: boolean
}

/** How late a process notices that the store's clock was set, if it goes by the last answer. */
const UNNOTICED_MS = 10_000

/** A run starts by what the store's clock showed within the last second. */
const SET_BACK_UNNOTICED_MS = 1_000

interface Piece {
  readonly from: Time
  readonly to: Time
  /** What to add to a time to get what the store's clock shows. */
  readonly offset: number
}

export function storeClock({ epoch, entries, bounds }: History): StoreClock {
  const steps = entries.filter((entry): entry is ClockStep => entry.kind === 'clock')
  const pieces = piecesOf(epoch, steps)
  const error = bounds.clockErrorMs
  const wasSetBack = steps.some(({ byMs }) => byMs < 0)

  const timesOf = (instant: Instant): Times => {
    if (steps.length === 0) return { from: instant - epoch - error, to: instant - epoch + error }
    let from = Number.POSITIVE_INFINITY
    let to = Number.NEGATIVE_INFINITY
    for (const [index, piece] of pieces.entries()) {
      const low = Math.max(piece.from, instant - error - piece.offset)
      const high = Math.min(piece.to, instant + error - piece.offset)
      if (low <= high) {
        from = Math.min(from, low)
        to = Math.max(to, high)
      } else if (isPassedAtStart(pieces, index, instant, error)) {
        from = Math.min(from, piece.from)
        to = Math.max(to, pieces[index - 1]!.to)
      }
    }
    return { from, to }
  }
  return {
    timesOf,
    shown(from, to) {
      let low = Number.POSITIVE_INFINITY
      let high = Number.NEGATIVE_INFINITY
      for (const piece of pieces) {
        if (piece.to < from || piece.from > to) continue
        low = Math.min(low, Math.max(from, piece.from) + piece.offset - error)
        high = Math.max(high, Math.min(to, piece.to) + piece.offset + error)
      }
      return { low, high }
    },
    isReached: (instant, time) =>
      time <= timesOf(instant).to ||
      pieces.some(
        ({ from, to, offset }) => from <= time && to >= time - UNNOTICED_MS && instant + error >= time + offset,
      ),
    hadReached: (instant, time) =>
      pieces.some(
        ({ from, to, offset }) =>
          from <= time && to >= time - SET_BACK_UNNOTICED_MS && time + offset + error >= instant,
      ),
    isBefore: (first, second) => (wasSetBack ? timesOf(first).to < timesOf(second).from : first < second),
    wasSetBack,
  }
}

function piecesOf(epoch: Instant, steps: readonly ClockStep[]): readonly Piece[] {
  const pieces: Piece[] = []
  let from = Number.NEGATIVE_INFINITY
  let offset = epoch
  for (const step of steps) {
    pieces.push({ from, to: step.until ?? step.at, offset })
    from = step.at
    offset += step.byMs
  }
  return [...pieces, { from, to: Number.POSITIVE_INFINITY, offset }]
}

/** Whether the step at which a piece begins went over the instant. */
function isPassedAtStart(pieces: readonly Piece[], index: number, instant: Instant, error: number): boolean {
  const before = pieces[index - 1]
  const piece = pieces[index]!
  if (before === undefined) return false
  const [earliest, latest] = [piece.from, before.to]
  const low = Math.min(before.offset, piece.offset) + earliest
  const high = Math.max(before.offset, piece.offset) + latest
  return low - error <= instant && instant <= high + error
}
