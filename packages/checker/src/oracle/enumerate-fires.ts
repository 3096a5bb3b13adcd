import { calendarDate } from './day-rules.ts'
import type { OracleSchedule } from './read-expression.ts'
import type { ZoneWindow } from './zone-clock.ts'

export interface ShiftOptions {
  readonly dst?: 'auto' | 'wall' | 'once' | 'shift' | undefined
  readonly gap?: 'auto' | 'after' | 'skip' | 'shift' | undefined
  readonly overlap?: 'auto' | 'first' | 'second' | 'both' | undefined
}

const DAY = 86_400

/** R10: a shift of a day or more is a date-line change, in every mode. */
const DATE_LINE = DAY

/**
 * Every fire in [from, to), in epoch seconds, ascending. Goes through all wall-clock times that the expression names and
 * asks for each which instants show it: none (a gap), one, or two (an overlap). `zone` must reach a day beyond the
 * window on both sides.
 */
export function enumerateFires(
  schedule: OracleSchedule,
  options: ShiftOptions,
  zone: ZoneWindow,
  from: number,
  to: number,
): number[] {
  const { gap, overlap } = resolveShift(schedule.timing, options)
  const fires = new Set<number>()
  for (const local of wallTimes(schedule, from + Math.min(...zone.offsets), to + Math.max(...zone.offsets))) {
    const instants = instantsShowing(local, zone)
    const [first, second] = instants
    if (first === undefined) {
      const fire = fireInGap(local, zone, gap)
      if (fire !== undefined) fires.add(fire)
    } else if (second === undefined || second - first >= DATE_LINE) {
      for (const instant of instants) fires.add(instant)
    } else {
      if (overlap !== 'second') fires.add(first)
      if (overlap !== 'first') fires.add(second)
    }
  }
  return [...fires].filter((second) => second >= from && second < to).sort((a, b) => a - b)
}

interface Shift {
  readonly gap: 'after' | 'skip' | 'shift'
  readonly overlap: 'first' | 'second' | 'both'
}

/** The options table: `dst` sets both halves, `gap` and `overlap` override one each; auto follows R8 and R9. */
export function resolveShift(timing: 'fixed' | 'interval', options: ShiftOptions): Shift {
  const auto: Shift = timing === 'fixed' ? { gap: 'after', overlap: 'first' } : { gap: 'skip', overlap: 'both' }
  const modes: Readonly<Record<string, Shift>> = {
    auto,
    wall: { gap: 'skip', overlap: 'both' },
    once: { gap: 'skip', overlap: 'first' },
    shift: { gap: 'shift', overlap: 'first' },
  }
  const mode = modes[options.dst ?? 'auto']!
  return {
    gap: options.gap === undefined || options.gap === 'auto' ? mode.gap : options.gap,
    overlap: options.overlap === undefined || options.overlap === 'auto' ? mode.overlap : options.overlap,
  }
}

/** Wall-clock seconds in [low, high) that the fields name, as if they were UTC. */
function* wallTimes(schedule: OracleSchedule, low: number, high: number): Generator<number> {
  for (let day = Math.floor(low / DAY); day * DAY < high; day += 1) {
    const date = calendarDate(day)
    if (!schedule.years.has(date.year) || !schedule.months.has(date.month) || !schedule.day(date)) continue
    for (const hour of schedule.hours) {
      const start = day * DAY + hour * 3600
      if (start + 3600 <= low || start >= high) continue
      for (const minute of schedule.minutes) {
        for (const second of schedule.seconds) {
          const local = start + minute * 60 + second
          if (local >= low && local < high) yield local
        }
      }
    }
  }
}

function instantsShowing(local: number, zone: ZoneWindow): number[] {
  const instants: number[] = []
  for (const offset of zone.offsets) if (zone.offsetAt(local - offset) === offset) instants.push(local - offset)
  return instants.length > 1 ? instants.sort((a, b) => a - b) : instants
}

function fireInGap(local: number, zone: ZoneWindow, gap: 'after' | 'skip' | 'shift'): number | undefined {
  const change = zone.changes.find(({ at, before, after }) => local >= at + before && local < at + after)
  if (!change) throw new Error(`wall time ${local} exists nowhere, but no gap holds it`)
  if (gap === 'skip' || change.after - change.before >= DATE_LINE) return undefined
  return gap === 'after' ? change.at : local - change.before
}
