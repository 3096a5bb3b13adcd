import { enumerateFires, type ShiftOptions } from './enumerate-fires.ts'
import { type ReadOptions, readExpression } from './read-expression.ts'
import { scanZone } from './zone-clock.ts'

const TWO_DAYS = 172_800

export interface OracleOptions extends ShiftOptions, ReadOptions {
  readonly tz?: string | undefined
}

/** Every fire in [from, to), in epoch milliseconds. */
export function oracleFires(expression: string, options: OracleOptions, from: number, to: number): number[] {
  const low = Math.ceil(from / 1000)
  const high = Math.ceil(to / 1000)
  const zone = scanZone(options.tz ?? 'UTC', low - TWO_DAYS, high + TWO_DAYS)
  return enumerateFires(readExpression(expression, options), options, zone, low, high).map((second) => second * 1000)
}

export const iso = (instant: number | null): string | null =>
  instant === null ? null : new Date(instant).toISOString().replace('.000Z', 'Z')
