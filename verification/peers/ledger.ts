/** What was executed for which due time, judged by what processes wrote down themselves. No system's own record is consulted. */
import { quantile } from '../../bench/shared/statistics.ts'
import type { Attempt, Line } from './order.ts'

/** Later than this is late: a minute's job that starts in the first quarter of its minute is on time. */
export const LATE_MS = 15_000
/** Clocks of host and processes are read at different moments. */
const EARLY_MS = 50

export interface Expected {
  readonly schedules: readonly string[]
  /** Due times in the ledger's wall time. */
  readonly dueTimes: readonly number[]
  /** Wall time at time 0 of the ledger. */
  readonly epoch: number
}

export interface Tally {
  readonly fires: number
  /** Due times for which no attempt did its work to the end. */
  readonly lost: number
  /** Attempts beyond the first that did their work to the end, for a due time that had been done, and that nothing refused. */
  readonly duplicates: number
  /** Due times with at least one such attempt. */
  readonly doubled: number
  /** Attempts beyond the first that the ledger refuses, because it has seen a higher fencing token of that due time. */
  readonly refused: number
  /** Attempts that did not come to their end: their process was killed, or their signal told them to stop. */
  readonly cutOff: number
  /** Fires of which the first attempt started more than `LATE_MS` after their due time. */
  readonly late: number
  /** Attempts that started before their due time. */
  readonly early: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export function judgeLedger(lines: readonly Line[], { schedules, dueTimes, epoch }: Expected): Tally {
  const byFire = Map.groupBy(lines, ({ schedule, dueAt }) => `${schedule} ${dueAt}`)
  const total = { fires: 0, lost: 0, duplicates: 0, doubled: 0, refused: 0, cutOff: 0, late: 0, early: 0 }
  const latenessMs: number[] = []
  for (const schedule of schedules) {
    for (const dueAt of dueTimes) {
      const own = (byFire.get(`${schedule} ${dueAt}`) ?? []).toSorted((one, other) => one.at - other.at)
      const starts = own.filter(({ kind }) => kind === 'start')
      const ends = own.filter(({ kind }) => kind === 'end')
      const refused = ends.filter((end) => isOvertaken(end, own)).length
      const accepted = ends.length - refused
      total.fires++
      total.refused += refused
      total.lost += accepted === 0 ? 1 : 0
      total.duplicates += Math.max(0, accepted - 1)
      total.doubled += accepted > 1 ? 1 : 0
      total.cutOff += starts.length - ends.length
      total.early += starts.filter(({ at }) => epoch + at < dueAt - EARLY_MS).length
      if (starts.length === 0) continue
      const lateMs = epoch + starts[0]!.at - dueAt
      latenessMs.push(lateMs)
      total.late += lateMs > LATE_MS ? 1 : 0
    }
  }
  return { ...total, p50Ms: quantile(latenessMs, 0.5), p99Ms: quantile(latenessMs, 0.99) }
}

/** The resource has heard of a higher token of this fire before: at its start, or with its effect. */
function isOvertaken({ token, at }: Attempt, all: readonly Attempt[]): boolean {
  if (token === null) return false
  return all.some((other) => other.at < at && other.token !== null && BigInt(other.token) > BigInt(token))
}
