import assert from 'node:assert/strict'
import { judge } from '../../src/judge.ts'
import type { Property } from '../../src/verdict.ts'
import { Builder, MINUTE } from './builder.ts'

/** The history shows nothing wrong. */
export function clean(history: Builder): void {
  const { violations } = judge(history.build())
  assert.deepEqual(
    violations.map(({ property, message }) => `${property} ${message}`),
    [],
  )
}

/** The history shows this, and nothing else. */
export function wrong(property: Property | readonly Property[], history: Builder): void {
  const { violations } = judge(history.build())
  const names = [...new Set(violations.map((violation) => violation.property))]
  const messages = violations.map((violation) => `${violation.property} ${violation.message}`)
  assert.deepEqual(names, [property].flat(), messages.join('\n'))
  for (const { message } of violations) assert.match(message, /\S\.$/)
}

/** One node, one minutely schedule, and its fires of these minutes, each run for a second. */
export function minutes(which: readonly number[], history = new Builder().node('n1', 0).define(10)): Builder {
  for (const minute of which) history.run(minute * MINUTE, [minute * MINUTE + 5, minute * MINUTE + 1_005])
  return history
}

export const TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

export const without = (...missing: readonly number[]): number[] => TEN.filter((minute) => !missing.includes(minute))

/** When the last read is asked for, usually. */
export const END = 11 * MINUTE - 1
