import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { iso, oracleExcluded, oracleFires } from '../../../checker/src/oracle/ask-oracle.ts'
import type { CronOptions, ExcludedRule } from '../../src/cron.ts'
import { cron, trigger } from '../../src/cron.ts'
import { timelineOf } from '../../src/trigger/from-data.ts'
import { caseScale } from '../case-count.ts'
import { seededRandom, transitionSpots } from '../oracle/generate-case.ts'
import { expressions } from '../oracle/generate-expression.ts'

// CRONCE_SEED picks other cases.
const { CRONCE_SEED = '20261118' } = process.env
const SEED = Number(CRONCE_SEED)
const DAY = 86_400_000
const RUNS = Math.ceil(1_000 * caseScale(0.1))
/** In days, before and after a zone change: most fires move farther than a day. */
const REACH = 6

const spots = transitionSpots(2, seededRandom(SEED))
const RULES: readonly (ExcludedRule | undefined)[] = [
  undefined,
  'skip',
  'next-working-day',
  'previous-working-day',
  'nearest',
]

/** Entries near a zone change, so that changes fall on closed days, and fires move to the day of a change. */
function entriesNear(at: number): fc.Arbitrary<string> {
  const date = (days: number): string => new Date(at + days * DAY).toISOString().slice(0, 10)
  const near = fc.integer({ min: -12, max: 12 })
  const entry = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('SAT', 'SUN', 'SAT SUN', 'FRI SAT', 'MON', 'WED') },
    { weight: 2, arbitrary: near.map((days) => date(days).slice(5)) },
    { weight: 2, arbitrary: near.map(date) },
    { weight: 2, arbitrary: fc.tuple(near, fc.nat(9)).map(([from, days]) => `${date(from)}/${date(from + days)}`) },
    { weight: 1, arbitrary: near.map((days) => `+${date(days)}`) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(near, fc.integer({ min: 95, max: 104 }))
        .map(([from, days]) => `${date(from)}/${date(from + days)}`),
    },
  )
  return fc.array(entry, { minLength: 0, maxLength: 6 }).map((entries) => entries.join(' '))
}

const cases = fc.nat(spots.length - 1).chain((index) => {
  const spot = spots[index]!
  return fc.record({
    spot: fc.constant(spot),
    expression: fc.oneof(
      { weight: 3, arbitrary: expressions(spot.hot, false) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          '0 2 LW * *',
          '30 1 1W * *',
          '0 0 15W * *',
          '0 9 L-2W * *',
          '30 23 * * *',
          '0,30 0,23 * * 5,6',
        ),
      },
    ),
    days: entriesNear(spot.at * 1000),
    excluded: fc.constantFrom(...RULES),
    dst: fc.constantFrom(undefined, undefined, 'wall', 'once', 'shift'),
  })
})

test('what fires, and what is excluded, is what the oracle says: random calendars and expressions around zone changes', () => {
  let firing = 0
  let excluding = 0
  let moving = 0
  fc.assert(
    fc.property(cases, ({ spot, expression, days, excluded, dst }) => {
      const calendar = { days, ...(excluded === undefined ? {} : { excluded }) }
      const options = { tz: spot.tz, ...(dst === undefined ? {} : { dst }), calendar } as CronOptions
      const subject = cron(expression, options)
      assert.ok(subject.kind === 'cron' && subject.excluded !== null)
      const label = `${JSON.stringify(expression)} ${JSON.stringify(options)} near ${iso(spot.at * 1000)}`
      const reach = subject.fields.seconds.length * subject.fields.minutes.length > 120 ? DAY : REACH * DAY
      const [from, to] = [spot.at * 1000 - reach, spot.at * 1000 + reach]
      // Its own calendar, but not in the form that the library has made of it.
      const asked = { ...options, calendar: { ...calendar, days: days } }
      const fires = oracleFires(expression, asked, from, to)
      const left = oracleExcluded(expression, asked, from, to)
      assertSame(
        walk((at) => subject.next(at), from, to),
        fires,
        `fires of ${label}`,
      )
      assertSame(walk(subject.excluded.next, from, to), left, `excluded by ${label}`)
      assertSame(
        back((at) => subject.prev(at), from, to),
        fires.slice(-STEPS),
        `fires backwards of ${label}`,
      )
      assertSame(back(subject.excluded.prev, from, to), left.slice(-STEPS), `excluded backwards by ${label}`)
      for (const at of left.slice(0, 5)) {
        assert.equal(subject.excluded.matches(at), true, label)
        assert.equal(subject.matches(at), false, label)
      }
      firing += Math.min(1, fires.length)
      excluding += Math.min(1, left.length)
      const plain = oracleFires(expression, { ...options, calendar: undefined }, from, to)
      moving += Number(fires.some((at) => !plain.includes(at)))
    }),
    { numRuns: RUNS, seed: SEED },
  )
  assert.ok(
    firing > RUNS / 4 && excluding > RUNS / 8 && moving > RUNS / 20,
    `${firing} fired, ${excluding} excluded, ${moving} moved`,
  )
})

test('each named day fires once, on its own date or on another, or is excluded', () => {
  // Between edges that no fire moves across.
  const from = Date.UTC(2026, 0, 8)
  const to = Date.UTC(2026, 11, 9)
  const entries = entriesNear(Date.UTC(2026, 5, 15))
  fc.assert(
    fc.property(
      fc.constantFrom('0 9 * * *', '0 9 1,15 * *'),
      entries,
      fc.constantFrom(...RULES),
      (expression, days, excluded) => {
        const subject = cron(expression, { calendar: { days, excluded } })
        assert.ok(subject.kind === 'cron')
        const { excluded: left } = subject
        const count = walk((at) => subject.next(at), from, to).length + walk((at) => left!.next(at), from, to).length
        assert.equal(count, oracleFires(expression, {}, from, to).length, `${expression} ${days} ${excluded}`)
      },
    ),
    { numRuns: 60, seed: SEED },
  )
})

test('a trigger with a calendar that went through JSON is the same, and equal calendars are equal data', () => {
  const calendar = { name: 'de', days: 'sunday 2026-12-26 sat 2026-12-25', excluded: 'nearest' } as const
  const one = cron('0 9 * * *', { tz: 'Europe/Berlin', calendar })
  const data = JSON.parse(JSON.stringify(one))
  assert.deepEqual(data.calendar, { name: 'de', days: 'SUN SAT 2026-12-25/2026-12-26', excluded: 'nearest' })
  assert.equal(trigger(data), one)
  const other = cron('0 9 * * *', {
    tz: 'Europe/Berlin',
    calendar: { ...calendar, days: 'SAT SUN 2026-12-25/2026-12-26' },
  })
  assert.equal(other, one)
})

test('the data of excluded times denotes them', () => {
  const one = cron('0 9 * * *', { calendar: { days: 'SAT SUN' } })
  assert.ok(one.kind === 'cron')
  const data = one.toJSON()
  const excluded = timelineOf({ ...data, calendar: { ...data.calendar!, only: 'excluded' } })
  const saturday = Date.parse('2026-11-21T09:00:00Z')
  assert.deepEqual(excluded.nextN(saturday - 1, 2), [saturday, saturday + DAY])
  assert.equal(timelineOf(data).matches(saturday), false)
})

const STEPS = 60

function walk(next: (from: number) => number | null, from: number, to: number): number[] {
  const found: number[] = []
  for (let at = next(from - 1); at !== null && at < to; at = next(at)) found.push(at)
  return found
}

function back(prev: (from: number) => number | null, from: number, to: number): number[] {
  const found: number[] = []
  for (let at = prev(to); at !== null && at >= from && found.length < STEPS; at = prev(at)) found.push(at)
  return found.reverse()
}

function assertSame(actual: readonly number[], expected: readonly number[], label: string): void {
  const longer = actual.length > expected.length ? actual : expected
  const index = longer.findIndex((_, position) => actual[position] !== expected[position])
  assert.equal(iso(actual[index] ?? null), iso(expected[index] ?? null), `time ${index} of ${label}`)
}
