import { type CronTrigger, cron, stats, type Timeline, type ZoneEffect } from 'cronce/cron'
import { formatCount, formatDuration, formatTime, joinWords } from './format.ts'

const DAY_MS = 86_400_000
const MOST_TIMES_LISTED = 3

/** A remark for each fire that a zone change moved or that stands in a repeated stretch. Fires ascend. */
export function zoneMarks(trigger: CronTrigger, fires: readonly number[]): ReadonlyMap<number, string> {
  const marks = new Map<number, string>()
  const [first] = fires
  const last = fires.at(-1)
  if (first === undefined || last === undefined) return marks

  // Two days either side, since a change matters to fires as far away as it is long, and the longest is a day.
  const { changes } = stats(trigger, { from: first - 2 * DAY_MS, to: last + 2 * DAY_MS })
  // In UTC no time is moved, so this tells whether a wall clock time is one that was written.
  const wall = cron(trigger.normalized)
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

  if (shift > 0 && sinceChange >= 0 && sinceChange < shift) {
    if (wall.matches(fire + change.offsetAfterMs)) return undefined
    const from = change.fires.filter(({ at }) => at.includes(fire)).map(({ local }) => timeOf(local))
    return from.length === 0 ? 'moved: the clock skips its time' : `moved from ${listTimes(from)}: the clock skips it`
  }
  if (shift < 0 && sinceChange < -shift && sinceChange >= shift) {
    const isFirst = sinceChange < 0
    const time = formatTime(fire + (isFirst ? change.offsetBeforeMs : change.offsetAfterMs))
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
  const isSingle = change.count === 1
  switch (change.effect) {
    case 'moved':
      return `${listed} ${isSingle ? 'does' : 'do'} not exist, so it ${movedTo(change)}`
    case 'dropped':
      return `${listed} ${isSingle ? 'does not exist and does' : 'do not exist and do'} not fire`
    case 'repeated':
      return `${listed} ${isSingle ? 'comes twice and fires' : 'come twice and fire'} twice`
    case 'none':
      return unrepeated(trigger, change) ?? 'nothing changes'
  }
}

export function changeWords({ offsetBeforeMs, offsetAfterMs }: ZoneEffect): string {
  const shift = offsetAfterMs - offsetBeforeMs
  return `clock ${shift > 0 ? 'forward' : 'back'} ${formatDuration(Math.abs(shift))}`
}

function movedTo(change: ZoneEffect): string {
  const targets = [...new Set(change.fires.flatMap(({ at }) => at))]
  const times = targets.map((at) => formatTime(at + change.offsetAfterMs))
  if (targets.length === 1) return change.count > 1 ? `fires once, at ${times[0]}` : `fires at ${times[0]} instead`
  return `fires at ${listTimes(times, change.count)} instead`
}

/** A time in the repeated stretch that fires in one pass only, which is worth saying though nothing goes wrong. */
function unrepeated(trigger: CronTrigger, change: ZoneEffect): string | undefined {
  const { at, offsetBeforeMs, offsetAfterMs } = change
  const size = offsetBeforeMs - offsetAfterMs
  if (size <= 0 || trigger.overlap === 'both') return undefined
  const [start, offset] = trigger.overlap === 'first' ? [at - size, offsetBeforeMs] : [at, offsetAfterMs]
  const { fires: count } = stats(trigger, { from: start - 1, to: start + size - 1 })
  if (count === 0) return undefined
  const fires = trigger.nextN(start - 1, Math.min(count, MOST_TIMES_LISTED))
  const times = fires.map((fire) => formatTime(fire + offset))
  const verb = count === 1 ? 'comes twice, fires' : 'come twice, fire'
  return `${listTimes(times, count)} ${verb} the ${trigger.overlap} time only`
}

function listTimes(times: readonly string[], count = times.length): string {
  if (count <= MOST_TIMES_LISTED) return joinWords(times)
  return `${times.slice(0, MOST_TIMES_LISTED - 1).join(', ')}, and ${formatCount(count - MOST_TIMES_LISTED + 1)} more`
}

/** `01:30` of `2027-03-28T01:30:00` */
function timeOf(local: string): string {
  return formatTime(Date.parse(`${local}Z`))
}
