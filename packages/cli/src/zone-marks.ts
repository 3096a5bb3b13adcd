import { type CronTrigger, cron, type EveryTrigger, stats, type Timeline, type ZoneEffect } from 'cronce/cron'
import { formatCount, formatDuration, formatTime, joinWords, type Precision } from './format.ts'

const DAY_MS = 86_400_000
const MOST_TIMES_LISTED = 3

/** The trigger's local times as if its zone were UTC: tells whether a wall clock time is one that was written. */
function wallTimes(trigger: CronTrigger): CronTrigger | EveryTrigger {
  return cron(trigger.normalized, { tz: 'UTC' })
}

/** A remark for each fire that a zone change moved or that stands in a repeated stretch. Fires ascend. */
export function zoneMarks(trigger: CronTrigger, fires: readonly number[]): ReadonlyMap<number, string> {
  const marks = new Map<number, string>()
  const [first] = fires
  const last = fires.at(-1)
  if (first === undefined || last === undefined) return marks

  // Two days either side, since a change matters to fires as far away as it is long, and the longest is a day.
  const { changes } = stats(trigger, { from: first - 2 * DAY_MS, to: last + 2 * DAY_MS })
  if (changes.length === 0) return marks
  const wall = wallTimes(trigger)
  for (const change of changes) {
    for (const fire of fires) {
      const mark = markOf(trigger, wall, change, fire)
      if (mark !== undefined) marks.set(fire, mark)
    }
  }
  return marks
}

function markOf(trigger: CronTrigger, wall: Timeline, change: ZoneEffect, fire: number): string | undefined {
  const shift = change.offsetAfterMs - change.offsetBeforeMs
  const sinceChange = fire - change.at
  if (sinceChange < -DAY_MS || sinceChange > DAY_MS) return undefined

  if (shift > 0 && sinceChange >= 0 && sinceChange < shift) {
    if (wall.matches(fire + change.offsetAfterMs)) return undefined
    const from = change.fires.filter(({ at }) => at.includes(fire)).map(({ local }) => timeOf(local))
    return from.length === 0 ? 'moved: the clock skips its time' : `moved from ${listTimes(from)}: the clock skips it`
  }
  if (shift < 0 && sinceChange < -shift && sinceChange >= shift) {
    const isFirst = sinceChange < 0
    const local = fire + (isFirst ? change.offsetBeforeMs : change.offsetAfterMs)
    const time = formatTime(local, precisionOf(local))
    const other = trigger.matches(isFirst ? fire - shift : fire + shift)
    if (isFirst) return other ? `repeats: ${time} comes twice` : `${time} comes twice, fires the first time`
    return other ? `repeated: ${time} again, the clock went back` : `${time} comes twice, fires the second time`
  }
  return undefined
}

/** What a zone change does to the trigger, in words. */
export function effectWords(trigger: CronTrigger, change: ZoneEffect): string {
  const times = change.fires.map(({ local }) => timeOf(local))
  const listed = listTimes(times, change.count)
  const single = change.count === 1
  switch (change.effect) {
    case 'moved':
      return `${listed} ${single ? 'does' : 'do'} not exist, so it ${movedTo(change)}`
    case 'dropped':
      return `${listed} ${single ? 'does' : 'do'} not exist and ${single ? 'does' : 'do'} not fire`
    case 'repeated':
      return `${listed} ${single ? 'comes twice and fires' : 'come twice and fire'} twice`
    case 'none':
      return unrepeated(trigger, change) ?? 'nothing changes'
  }
}

export function changeWords(change: ZoneEffect): string {
  const shift = change.offsetAfterMs - change.offsetBeforeMs
  return `clock ${shift > 0 ? 'forward' : 'back'} ${formatDuration(Math.abs(shift))}`
}

function movedTo(change: ZoneEffect): string {
  const targets = [...new Set(change.fires.flatMap(({ at }) => at))]
  const times = targets.map((at) => formatTime(at + change.offsetAfterMs, precisionOf(at + change.offsetAfterMs)))
  if (targets.length === 1) return change.count > 1 ? `fires once, at ${times[0]}` : `fires at ${times[0]} instead`
  return `fires at ${listTimes(times, change.count)} instead`
}

/** A fixed time in the repeated stretch fires once, which is worth saying though nothing goes wrong. */
function unrepeated(trigger: CronTrigger, change: ZoneEffect): string | undefined {
  const size = change.offsetBeforeMs - change.offsetAfterMs
  if (size <= 0) return undefined
  const start = change.at + change.offsetAfterMs
  const wall = wallTimes(trigger)
  const { fires: count } = stats(wall, { from: start - 1, to: start + size - 1 })
  const [first, ...more] = wall.nextN(start - 1, Math.min(count, MOST_TIMES_LISTED))
  if (first === undefined) return undefined
  const pass = trigger.matches(first - change.offsetBeforeMs) ? 'first' : 'second'
  const times = [first, ...more].map((time) => formatTime(time, precisionOf(time)))
  return `${listTimes(times, count)} ${count === 1 ? 'comes twice, fires' : 'come twice, fire'} the ${pass} time only`
}

function listTimes(times: readonly string[], count = times.length): string {
  if (count <= MOST_TIMES_LISTED) return joinWords(times)
  return `${times.slice(0, MOST_TIMES_LISTED - 1).join(', ')}, and ${formatCount(count - MOST_TIMES_LISTED + 1)} more`
}

/** `01:30` of `2027-03-28T01:30:00`, with seconds only if there are any. */
function timeOf(local: string): string {
  const time = local.slice(local.indexOf('T') + 1)
  return time.replace(/^(\d\d:\d\d):00(\.0+)?$/, '$1')
}

function precisionOf(wall: number): Precision {
  return wall % 60_000 === 0 ? 'minute' : 'second'
}
