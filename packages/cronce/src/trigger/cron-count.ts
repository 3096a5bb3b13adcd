import { DAY_COUNT, MONTH_COUNT, monthFirstDay } from './calendar.ts'
import { type CronSet, daysOfMonth, isSet } from './cron-set.ts'

/** How many local times the set has in [from, to). */
export function countLocal(set: CronSet, from: number, to: number): number {
  return to > from ? countBefore(set, to) - countBefore(set, from) : 0
}

/** How many local times the set has from 1970 until `local`. */
function countBefore(set: CronSet, local: number): number {
  const second = Math.min(Math.max(Math.ceil(local / 1000), 0), DAY_COUNT * 86_400)
  const day = Math.floor(second / 86_400)
  let days = 0
  let month = 0
  while (month < MONTH_COUNT && monthFirstDay[month + 1]! <= day) days += bitCount(daysOfMonth(set, month++))
  const perDay = timesBefore(set, 86_400)
  if (month === MONTH_COUNT) return days * perDay
  const inMonth = day - monthFirstDay[month]!
  const thisMonth = daysOfMonth(set, month)
  days += bitCount(thisMonth & ((1 << inMonth) - 1))
  return days * perDay + ((thisMonth >>> inMonth) & 1) * timesBefore(set, second - day * 86_400)
}

/** How many times of day come before `second`. */
function timesBefore(set: CronSet, second: number): number {
  const hour = Math.floor(second / 3600)
  const minute = Math.floor(second / 60) % 60
  const perMinute = countBelow(set.secondsLow, set.secondsHigh, 60)
  const perHour = countBelow(set.minutesLow, set.minutesHigh, 60) * perMinute
  let count = bitCount(set.hours & ((1 << hour) - 1)) * perHour
  if (((set.hours >>> hour) & 1) === 0) return count
  count += countBelow(set.minutesLow, set.minutesHigh, minute) * perMinute
  if (isSet(set.minutesLow, set.minutesHigh, minute)) count += countBelow(set.secondsLow, set.secondsHigh, second % 60)
  return count
}

/** How many values of two thirty-bit halves are less than `value`. */
function countBelow(low: number, high: number, value: number): number {
  const below = (bits: number, count: number): number => bitCount(bits & ((1 << Math.min(count, 30)) - 1))
  return below(low, value) + below(high, Math.max(value - 30, 0))
}

function bitCount(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}
