import { type Random, seeded } from './random.ts'

/**
 * What a server's schedules look like. Only grammar which all libraries read alike: five fields; numbers, steps,
 * lists without duplicates, ranges of at least two values; and never a day of month together with a day of week
 * (node-cron reads "and" there).
 */
export function serverExpression(random: Random): string {
  const minute = random.int(0, 59)
  const hour = random.int(0, 23)
  const shape = random.int(1, 100)
  if (shape <= 25) return `*/${random.pick([1, 2, 3, 5, 10, 15, 20, 30])} * * * *`
  if (shape <= 35) return `${minute} * * * *`
  if (shape <= 40) return `${minute} */${random.pick([2, 3, 4, 6, 8, 12])} * * *`
  if (shape <= 65) return `${minute} ${hour} * * *`
  if (shape <= 75) return `${minute} ${hour} * * 1-5`
  if (shape <= 80) return `*/${random.pick([5, 10, 15, 30])} ${random.int(6, 9)}-${random.int(16, 20)} * * 1-5`
  if (shape <= 88) return `${minute} ${hour} * * ${random.int(0, 6)}`
  if (shape <= 95) return `${minute} ${hour} ${random.int(1, 31)} * *`
  if (shape <= 98) return `${minute} ${hour % 12},${(hour % 12) + 12} * * *`
  return `${minute} ${hour} ${random.int(1, 28)} ${random.int(1, 12)} *`
}

/** Shapes with enough values for a hundred thousand different expressions. */
function variedExpression(random: Random): string {
  const minute = random.int(0, 59)
  const hour = random.int(0, 23)
  const from = random.int(0, 22)
  const hours = `${from}-${random.int(from + 1, 23)}`
  switch (random.int(1, 8)) {
    case 1:
      return `${minute} ${hour} * * ${random.int(0, 6)}`
    case 2:
      return `${minute} ${hour} ${random.int(1, 31)} * *`
    case 3:
      return `${minute} ${hour} ${random.int(1, 28)} ${random.int(1, 12)} *`
    case 4:
      return `*/${random.int(2, 30)} ${hours} * * ${random.int(0, 2)}-${random.int(3, 6)}`
    case 5:
      return `${random.int(0, 29)},${random.int(30, 59)} ${hour} * * ${random.int(1, 2)}-${random.int(3, 5)}`
    case 6:
      return `${random.int(0, 20)}-${random.int(40, 59)}/${random.int(2, 20)} ${hours} * * *`
    case 7:
      return `${minute} ${random.int(0, 11)},${random.int(12, 23)} * ${random.int(1, 6)}-${random.int(7, 12)} *`
    default:
      return `${minute} ${hours}/${random.int(2, 6)} ${random.int(1, 15)},${random.int(16, 31)} * *`
  }
}

/** `count` expressions, no two alike. */
export function distinctExpressions(count: number, seed: number): string[] {
  const random = seeded(seed)
  const seen = new Set<string>()
  while (seen.size < count) seen.add(variedExpression(random))
  return [...seen]
}

/** `count` expressions of which only `different` differ, in random order. */
export function repeatedExpressions(count: number, different: number, seed: number): string[] {
  const random = seeded(seed)
  const pool = distinctExpressions(different, seed)
  return Array.from({ length: count }, () => random.pick(pool))
}

/**
 * A copy as a row from a database would be: flat, and its hash not computed yet. Otherwise a library which keeps
 * expressions in a map would find the hash for nothing, and one which reads characters would pay for our pasting.
 */
export function freshCopy(expression: string): string {
  return Buffer.from(expression, 'latin1').toString('latin1')
}
