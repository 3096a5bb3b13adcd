import assert from 'node:assert/strict'
import test from 'node:test'
import { at, CronError, cron, every, type TriggerData, trigger } from '../../src/cron.ts'

const NOON = Date.parse('2027-06-01T12:00:00Z')
const MINUTE = 60_000

test('every is aligned to the Unix epoch, so that instances which start apart agree', () => {
  const quarter = every('15m')
  assert.equal(quarter.next(NOON + 1), NOON + 15 * MINUTE)
  assert.equal(quarter.next(NOON + 14 * MINUTE), NOON + 15 * MINUTE)
  assert.equal(quarter.next(NOON), NOON + 15 * MINUTE)
  assert.equal(quarter.prev(NOON), NOON - 15 * MINUTE)
  assert.equal(quarter.prev(NOON + 1), NOON)
  assert.equal(quarter.prev(NOON + 0.5), NOON)
  assert.equal(quarter.next(NOON - 0.5), NOON)
  assert.deepEqual(
    [quarter.matches(NOON), quarter.matches(NOON + 1), quarter.matches(NOON + 0.5)],
    [true, false, false],
  )
})

test('an anchor moves the phase, and reaches into the past as well', () => {
  const anchored = every('1h', { anchor: new Date(NOON + 7 * MINUTE) })
  assert.equal(anchored.next(NOON), NOON + 7 * MINUTE)
  assert.equal(anchored.prev(NOON), NOON - 53 * MINUTE)
  assert.equal(anchored.next(-8.64e15)! - -8.64e15 <= 60 * MINUTE, true)
  assert.equal(anchored.matches(anchored.next(-8.64e15)!), true)
})

test('the distance to a far anchor is exact', () => {
  for (const from of [-8.64e15, -8.64e15 + 1, -8.64e15 + 2, -8.64e15 + 3]) {
    const phase = (((BigInt(from) - 8_640_000_000_000_000n) % 7n) + 7n) % 7n
    assert.equal(every(7, { anchor: 8.64e15 }).next(from), Number(BigInt(from) + 7n - phase), String(from))
  }
})

test('29 February is an instant in leap years only', () => {
  assert.equal(at('2028-02-29T00:00:00Z').at, Date.UTC(2028, 1, 29))
  assert.throws(() => at('2027-02-29T00:00:00Z'), { code: 'EXPRESSION_INVALID' })
})

test('an option that is misspelt is not ignored', () => {
  assert.throws(() => every('15m', { ancor: 5 } as object), { name: 'CronError', code: 'OPTION_UNKNOWN' })
  assert.throws(() => every('15m', null as unknown as object), { name: 'CronError', code: 'OPTION_UNKNOWN' })
})

test('every ends where dates end', () => {
  assert.equal(every('1d').next(8.64e15), null)
  assert.equal(every('1d').prev(-8.64e15), null)
})

test('@every in an expression is the same trigger as every', () => {
  assert.deepEqual(cron('@every 90m').toJSON(), every('90m').toJSON())
  assert.deepEqual(cron('  @EVERY   1h30m ').toJSON(), every('90m').toJSON())
})

test('at has one instant', () => {
  const once = at('2027-06-01T14:00:00+02:00')
  assert.deepEqual(
    [once.next(NOON - 1), once.next(NOON), once.prev(NOON), once.prev(NOON + 1)],
    [NOON, null, null, NOON],
  )
  assert.deepEqual(once.nextN(0, 5), [NOON])
  assert.equal(at(new Date(NOON)).at, NOON)
})

test('a text without a zone is refused, since it would mean something else on each machine', () => {
  for (const text of [
    '2027-06-01T12:00:00',
    '2027-06-01',
    'tomorrow',
    '',
    '2027-13-01T00:00:00Z',
    '2027-02-30T00:00:00Z',
    '1',
  ]) {
    assert.throws(() => at(text), { name: 'CronError', code: 'EXPRESSION_INVALID' }, text)
  }
})

test('invalid instants and durations are refused', () => {
  assert.throws(() => at(Number.NaN), { name: 'RangeError', code: 'INSTANT_INVALID' })
  assert.throws(() => at(new Date('x')), RangeError)
  assert.throws(
    () => every('15'),
    (error: unknown) => error instanceof CronError && error.code === 'DURATION_INVALID',
  )
  assert.throws(() => every('1h', { anchor: Number.NaN }), RangeError)
  assert.throws(() => every('1h').nextN(0, -1), { name: 'RangeError', code: 'COUNT_OUT_OF_RANGE' })
  assert.throws(() => every('1h').nextN(0, 1e9), RangeError)
})

test('every kind of trigger survives being stored', () => {
  for (const original of [
    cron('0 3 * * *', { tz: 'Asia/Tokyo', gap: 'skip' }),
    every('7m', { anchor: 11 }),
    at(NOON),
  ]) {
    const revived = trigger(JSON.parse(JSON.stringify(original)) as TriggerData)
    assert.deepEqual(revived.toJSON(), original.toJSON())
    assert.deepEqual(revived.nextN(NOON - 1, 3), original.nextN(NOON - 1, 3))
  }
  for (const data of [
    null,
    undefined,
    {},
    { kind: 'moon' },
    { kind: 'at', at: '2027-01-01T00:00Z' },
    { kind: { toString: 1 } },
    { kind: 'every', everyMs: '5m' },
  ]) {
    assert.throws(() => trigger(data as unknown as TriggerData), { code: 'EXPRESSION_INVALID' })
  }
})
