import type { Spot } from '../oracle/generate-case.ts'

/** Expressions that croner, cron-parser and we read alike: lists without repetition, no `a/n`, no wrapping. */

type Random = () => number

interface Field {
  readonly low: number
  readonly high: number
  readonly hot: readonly number[]
}

const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)]!

export function commonExpression({ hot }: Spot, random: Random): string {
  const minute = item({ low: 0, high: 59, hot: hot.minute }, random)
  const hour = item({ low: 0, high: 23, hot: hot.hour }, random)
  const dom = random() < 0.75 ? '*' : values({ low: 1, high: 31, hot: hot.dom }, random)
  const dow = random() < 0.75 ? '*' : values({ low: 0, high: 6, hot: hot.dow }, random)
  return `${minute} ${hour} ${dom} * ${dow}`
}

export function dayExpression(_: Spot, random: Random): string {
  const dom = pick(['*', '*', 'L', '29', '31', '1,15,L', '13', '*/10', '1-7'], random)
  const dow = pick(['*', '*', '5L', '0#1', '1#2', '5#5', 'MON-FRI', 'sat,SUN', '7', '0', '2'], random)
  const month = pick(['*', '*', '2', 'FEB,apr', '*/3', 'JUN-SEP'], random)
  return `${pick(['0 0', '30 12', '59 23'], random)} ${dom} ${month} ${dow}`
}

function item(field: Field, random: Random): string {
  const kind = random()
  if (kind < 0.15) return '*'
  if (kind < 0.3) return `*/${2 + Math.floor(random() * 10)}`
  return values(field, random)
}

function values(field: Field, random: Random): string {
  const value = () =>
    random() < 0.8 ? pick(field.hot, random) : field.low + Math.floor(random() * (field.high - field.low + 1))
  const kind = random()
  const [a, b] = [value(), value()]
  // cron-parser refuses a list that repeats a value.
  if (kind < 0.6 || a === b) return String(a)
  if (kind < 0.8) return `${Math.min(a, b)}-${Math.max(a, b)}`
  return `${a},${b}`
}
