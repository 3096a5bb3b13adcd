import type { ScheduleView } from 'cronce'
import { cron } from 'cronce/cron'
import { formatTime } from '../format.ts'
import { offsetAt } from '../zone.ts'
import type { Moment } from './forecast.ts'

const DAY_MS = 86_400_000

export interface Collision {
  /** `03:00` */
  readonly words: string
  /** Schedules at a time, at most, and how often at least two of them. */
  readonly most: number
  readonly times: number
  readonly names: readonly string[]
  readonly advice: readonly Advice[]
}

export interface Advice {
  readonly name: string
  readonly expression: string
  /** Which one that is. */
  readonly minute: number | null
  readonly instead: string
}

/** Moments of the same time of day are one collision: what is due together today is so tomorrow, too. */
export function collisionsOf(moments: readonly Moment[], tz: string): readonly Collision[] {
  const byTime = Map.groupBy(moments, ({ at }) => modulo(at + offsetAt(tz, at), DAY_MS))
  return [...byTime]
    .map(([wall, together]): Collision => {
      const fullest = together.reduce((most, moment) => (moment.names.length > most.names.length ? moment : most))
      return {
        words: formatTime(wall),
        most: fullest.names.length,
        times: together.length,
        names: fullest.names,
        advice: adviceFor(fullest.schedules),
      }
    })
    .sort((a, b) => b.most - a.most || b.times - a.times || (a.words < b.words ? -1 : 1))
}

/** Those that name one minute get one by their name instead: `H`. If all do, the first may stay. */
function adviceFor(schedules: readonly ScheduleView[]): readonly Advice[] {
  const movable = schedules.flatMap((schedule): Advice[] => {
    const { trigger, name } = schedule
    if (trigger?.kind !== 'cron' || (trigger.dialect !== undefined && trigger.dialect !== 'default')) return []
    const fields = trigger.expression.trim().split(/\s+/)
    // A step or a list says when it must be.
    if (fields.length !== 5 || !/^\d+$/.test(fields[0]!)) return []
    const expression = ['H', ...fields.slice(1)].join(' ')
    const spread = cron(expression, { tz: trigger.tz, seed: name })
    const minute = spread.kind === 'cron' ? spread.fields.minutes[0] : undefined
    return [{ name, expression, minute: minute ?? null, instead: trigger.expression }]
  })
  return movable.slice(movable.length === schedules.length ? 1 : 0)
}

function modulo(value: number, size: number): number {
  return ((value % size) + size) % size
}
