import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iso } from '../../../checker/src/oracle/ask-oracle.ts'
import { cron } from '../../src/cron.ts'

// R1 and R11: one set of instants, asked from anywhere, also where it is empty or over.

const at = (text: string): number => Date.parse(text)

test('R1 next is strictly after the question, even when asked on a fire', () => {
  const hourly = cron('0 * * * *')
  assert.equal(iso(hourly.next(at('2025-01-01T10:00:00Z'))), '2025-01-01T11:00:00Z')
  assert.equal(iso(hourly.next(at('2025-01-01T09:59:59.999Z'))), '2025-01-01T10:00:00Z')
})

test('R1 prev is strictly before the question, even when asked on a fire', () => {
  const hourly = cron('0 * * * *')
  assert.equal(iso(hourly.prev(at('2025-01-01T10:00:00Z'))), '2025-01-01T09:00:00Z')
  assert.equal(iso(hourly.prev(at('2025-01-01T10:00:00.001Z'))), '2025-01-01T10:00:00Z')
})

test('R1 milliseconds count in the comparison and never reach the result', () => {
  const minutely = cron('* * * * *')
  assert.equal(minutely.next(at('2025-01-01T10:00:00.001Z')), at('2025-01-01T10:01:00Z'))
  assert.equal(minutely.prev(at('2025-01-01T10:00:59.999Z')), at('2025-01-01T10:00:00Z'))
  assert.equal(minutely.matches(at('2025-01-01T10:00:00.000Z')), true)
  assert.equal(minutely.matches(at('2025-01-01T10:00:00.001Z')), false)
  assert.equal(minutely.next(at('2025-01-01T10:00:00Z') + 0.5), at('2025-01-01T10:01:00Z'))
})

test('R1 a Date and its number get the same answers, and the Date is left alone', () => {
  const daily = cron('@daily', { tz: 'Asia/Tokyo' })
  const date = new Date('2025-01-01T10:00:00Z')
  assert.equal(daily.next(date), daily.next(date.getTime()))
  assert.equal(daily.prev(date), daily.prev(date.getTime()))
  assert.equal(daily.matches(date), daily.matches(date.getTime()))
  assert.deepEqual(daily.nextN(date, 5), daily.nextN(date.getTime(), 5))
  assert.equal(date.toISOString(), '2025-01-01T10:00:00.000Z')
})

test('R1 nextN asks for as many as there are', () => {
  const thrice = cron('0 0 0 1 1 * 2197-2199')
  assert.deepEqual(thrice.nextN(at('2025-01-01T00:00Z'), 0), [])
  assert.deepEqual(thrice.nextN(at('2025-01-01T00:00Z'), 2).map(iso), ['2197-01-01T00:00:00Z', '2198-01-01T00:00:00Z'])
  assert.equal(thrice.nextN(at('2025-01-01T00:00Z'), 10).length, 3)
})

test('R1 iteration inside a repeated hour never goes back', () => {
  const subject = cron('*/10 * * * *', { tz: 'Europe/London' })
  const fires = subject.nextN(at('2025-10-25T23:59Z'), 30)
  assert.deepEqual(
    fires.map((fire, index) => fire - at('2025-10-26T00:00Z') - index * 600_000),
    fires.map(() => 0),
  )
})

const NEVER = [
  '0 0 30 2 *',
  '0 0 31 2 *',
  '0 0 31 4,6,9,11 *',
  '0 0 L-30 2,4,6,9,11 *',
  '0 0 L-29 2 *',
  '0 0 31W 4 *',
  '0 0 30 2 +MON',
  '0 0 0 29 2 * 2023',
  '0 0 0 29 2 * 2100',
  '0 0 0 29 2 +TUE 2085-2123',
  '0 0 0 * 2 1#5 2017-2043',
  '0 0 8-31 * +MON#1',
]

for (const expression of NEVER) {
  test(`R11 an expression that can never fire is valid and answers null: ${expression}`, () => {
    const subject = cron(expression, { tz: 'Europe/Lisbon' })
    assert.equal(subject.never, true)
    assert.equal(subject.next(at('2025-01-01T00:00Z')), null)
    assert.equal(subject.prev(at('2025-01-01T00:00Z')), null)
    assert.deepEqual(subject.nextN(0, 5), [])
    assert.equal(subject.matches(at('2024-02-29T00:00Z')), false)
  })
}

test('R11 a year in the past has no next, but it did fire', () => {
  const subject = cron('0 0 0 1 1 * 1999')
  assert.equal(subject.never, false)
  assert.equal(subject.next(at('2025-01-01T00:00Z')), null)
  assert.equal(iso(subject.prev(at('2025-01-01T00:00Z'))), '1999-01-01T00:00:00Z')
})

test('R11 the longest wait of a day rule is forty years: a Tuesday 29 February', () => {
  const subject = cron('0 0 29 2 +TUE')
  assert.equal(iso(subject.next(at('2084-02-29T00:00Z'))), '2124-02-29T00:00:00Z')
  assert.equal(iso(subject.prev(at('2124-02-29T00:00Z'))), '2084-02-29T00:00:00Z')
})

test('R11 29 February jumps over 2100', () => {
  const subject = cron('0 0 29 2 *')
  assert.equal(iso(subject.next(at('2096-02-29T00:00Z'))), '2104-02-29T00:00:00Z')
  assert.equal(iso(subject.prev(at('2104-02-29T00:00Z'))), '2096-02-29T00:00:00Z')
})

test('R11 the only date of a schedule may be one that its zone skipped', () => {
  const subject = cron('0 0 12 31 12 * 1994', { tz: 'Pacific/Kiritimati' })
  assert.equal(subject.next(0), null)
  assert.equal(subject.prev(at('2025-01-01T00:00Z')), null)
})

test('R11 the only time of a schedule may be one that its zone skipped', () => {
  const subject = cron('0 30 2 9 3 * 2025', { tz: 'America/New_York', gap: 'skip' })
  assert.equal(subject.next(0), null)
  assert.equal(subject.prev(at('2030-01-01T00:00Z')), null)
})

test('R2 local years run from 1970 to 2199, wherever UTC is by then', () => {
  const east = cron('@daily', { tz: 'Asia/Tokyo' })
  const west = cron('@daily', { tz: 'America/Phoenix' })
  assert.equal(iso(east.next(-8.64e15)), '1969-12-31T15:00:00Z')
  assert.equal(iso(west.next(-8.64e15)), '1970-01-01T07:00:00Z')
  assert.equal(east.prev(at('1969-12-31T15:00:00Z')), null)
  assert.equal(iso(cron('59 23 * * *', { tz: 'Asia/Tokyo' }).prev(8.64e15)), '2199-12-31T14:59:00Z')
  assert.equal(iso(cron('59 23 * * *', { tz: 'America/Phoenix' }).prev(8.64e15)), '2200-01-01T06:59:00Z')
  assert.equal(west.next(at('2199-12-31T07:00:00Z')), null)
})

test('an instant that is not one is a RangeError with a code', () => {
  const subject = cron('@daily', { tz: 'Europe/Berlin' })
  const wrong = { name: 'RangeError', code: 'INSTANT_INVALID' }
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 8.64e15 + 1, -8.64e15 - 1]) {
    assert.throws(() => subject.next(bad), wrong)
    assert.throws(() => subject.prev(bad), wrong)
    assert.throws(() => subject.matches(bad), wrong)
    assert.throws(() => subject.nextN(bad, 1), wrong)
  }
  assert.throws(() => subject.next(new Date(Number.NaN)), wrong)
})

test('an instant of the wrong type is refused, not converted', () => {
  const subject = cron('@daily')
  for (const bad of [null, undefined, '2025-01-01', {}, [], true, 5n] as unknown as number[]) {
    assert.throws(() => subject.next(bad), { code: 'INSTANT_INVALID' })
  }
})

test('instants of the years 1 and 275760 get an answer', () => {
  const subject = cron('30 2 * * *', { tz: 'America/New_York' })
  const first = subject.next(-8.64e15)
  assert.equal(iso(first), '1970-01-01T07:30:00Z')
  assert.equal(subject.next(at('0001-01-01T00:00:00Z')), first)
  assert.equal(subject.prev(at('0001-01-01T00:00:00Z')), null)
  assert.equal(subject.next(at('+275760-09-12T00:00:00Z')), null)
  assert.equal(iso(subject.prev(at('+275760-09-12T00:00:00Z'))), '2199-12-31T07:30:00Z')
  assert.equal(subject.matches(8.64e15), false)
  assert.equal(subject.matches(-8.64e15), false)
})
