import type { Decision } from 'cronce/internal'
import type { Watcher } from './virtual-fleet.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** A schedule with more due times than this is not rare, and they are not listed. */
const MOST_RARE = 400

/** The outcomes of the fires of one schedule, counted. */
export interface ScheduleTally {
  /** Due times, run or not. */
  fires: number
  /** By reason: `completed`, `timeout`, `overlap`, … */
  readonly reasons: Map<string, number>
  runs: number
  /** Runs that began while another run of the schedule was under way. */
  beside: number
  /** Runs that had to wait: for an earlier run, a limit, or room. */
  waited: number
  longestWaitMs: number
  busyMs: number
}

export interface Peak {
  readonly running: number
  readonly at: number
}

/** Counts what happens from `from` to `until`. */
export class Tally implements Watcher {
  readonly from: number
  readonly schedules = new Map<string, ScheduleTally>()
  /** Runs that began, and the most at a time, by hour. */
  readonly starts: number[]
  readonly peaks: number[]
  /** Due times by minute. */
  readonly #due: Uint32Array
  readonly #rare = new Map<string, number[]>()
  peak: Peak
  runs = 0

  constructor(from: number, until: number) {
    this.from = from
    this.peak = { running: 0, at: from }
    const hours = Math.max(1, Math.ceil((until - from) / HOUR_MS))
    this.starts = new Array<number>(hours).fill(0)
    this.peaks = new Array<number>(hours).fill(0)
    this.#due = new Uint32Array(hours * 60)
  }

  started(run: Decision['started'][number], at: number, running: number, beside: number): void {
    const tally = this.of(run.record.schedule)
    this.runs++
    tally.runs++
    if (beside > 0) tally.beside++
    const waitMs = at - run.record.readyAt
    if (waitMs > 0 && run.record.attempt === 1) tally.waited++
    tally.longestWaitMs = Math.max(tally.longestWaitMs, waitMs)
    const hour = Math.floor((at - this.from) / HOUR_MS)
    if (hour < this.starts.length) {
      this.starts[hour]!++
      this.peaks[hour] = Math.max(this.peaks[hour]!, running)
    }
    if (running > this.peak.running) this.peak = { running, at }
  }

  ended(line: Decision['change']['history'][number]): void {
    const tally = this.of(line.schedule)
    if (line.run !== null) tally.busyMs += line.endedAt - line.run.startedAt
    if (!line.isFinal) return
    const count = line.range?.count ?? 1
    const { reason } = line.ending
    tally.fires += count
    tally.reasons.set(reason, (tally.reasons.get(reason) ?? 0) + count)
    const minute = Math.floor((line.dueAt - this.from) / MINUTE_MS)
    if (minute < 0 || minute >= this.#due.length) return
    this.#due[minute]! += count
    const rare = this.#rare.get(line.schedule) ?? []
    if (rare.length <= MOST_RARE) this.#rare.set(line.schedule, [...rare, line.dueAt])
  }

  of(schedule: string): ScheduleTally {
    const known = this.schedules.get(schedule)
    if (known !== undefined) return known
    const counts = { fires: 0, runs: 0, beside: 0, waited: 0, longestWaitMs: 0, busyMs: 0 }
    const made: ScheduleTally = { ...counts, reasons: new Map() }
    this.schedules.set(schedule, made)
    return made
  }

  /** Starts of stretches with the most due times, the fullest first, none within another one; half of them by rare schedules alone. */
  fullest(stretchMs: number, most: number): readonly number[] {
    const rare = new Uint32Array(this.#due.length)
    for (const dueTimes of this.#rare.values()) {
      if (dueTimes.length > MOST_RARE) continue
      for (const at of dueTimes) rare[Math.floor((at - this.from) / MINUTE_MS)]!++
    }
    const half = Math.ceil(most / 2)
    const width = Math.max(1, Math.ceil(stretchMs / MINUTE_MS))
    const starts = [...fullestOf(this.#due, width, half), ...fullestOf(rare, width, half)]
    return [...new Set(starts)].map((minute) => this.from + minute * MINUTE_MS)
  }
}

/** The stretches of this many minutes with the highest sums, without overlap, the highest first. */
function fullestOf(counts: Uint32Array, width: number, most: number): readonly number[] {
  const found: { readonly start: number; readonly sum: number }[] = []
  let sum = 0
  for (let end = 0; end < counts.length; end++) {
    sum += counts[end]! - (end >= width ? counts[end - width]! : 0)
    const start = end - width + 1
    // A stretch begins with a due time.
    if (start < 0 || counts[start] === 0) continue
    const clash = found.findIndex((other) => Math.abs(other.start - start) < width)
    if (clash >= 0 && found[clash]!.sum >= sum) continue
    if (clash < 0 && found.length === most && found.at(-1)!.sum >= sum) continue
    if (clash >= 0) found.splice(clash, 1)
    found.push({ start, sum })
    found.sort((one, other) => other.sum - one.sum || one.start - other.start)
    found.length = Math.min(found.length, most)
  }
  return found.map(({ start }) => start)
}
