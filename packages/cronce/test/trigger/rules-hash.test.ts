import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CronTrigger, cron } from '../../src/cron.ts'
import { assertSameSet } from './expected-fires.ts'

// H: a stable pick, hashed from the seed and the field, so that schedules spread instead of all firing at :00.

const SEEDS = Array.from({ length: 300 }, (_, index) => `schedule-${index}`)

function hashed(expression: string, seed: string): CronTrigger {
  const subject = cron(expression, { seed })
  assert.ok(subject.kind === 'cron')
  return subject
}

/** The fields of the normalized expression, minute first. */
const fieldsOf = (expression: string, seed: string): string[] => hashed(expression, seed).normalized.split(' ')

const valuesOf = (expression: string, field: number): number[] =>
  SEEDS.map((seed) => Number(fieldsOf(expression, seed)[field]))

test('H is the same value for the same seed', () => {
  for (const seed of SEEDS) assert.equal(hashed('H H H H H', seed).normalized, hashed('H H H H H', seed).normalized)
})

test('H spreads over the whole field', () => {
  const fields = [
    { expression: 'H 0 * * *', index: 0, low: 0, high: 59, atLeast: 50 },
    { expression: '0 H * * *', index: 1, low: 0, high: 23, atLeast: 22 },
    { expression: '0 0 H * *', index: 2, low: 1, high: 28, atLeast: 26 },
    { expression: '0 0 1 H *', index: 3, low: 1, high: 12, atLeast: 12 },
    { expression: '0 0 * * H', index: 4, low: 0, high: 6, atLeast: 7 },
  ]
  for (const { expression, index, low, high, atLeast } of fields) {
    const values = valuesOf(expression, index)
    assert.ok(Math.min(...values) >= low && Math.max(...values) <= high, expression)
    assert.ok(new Set(values).size >= atLeast, `${expression}: ${new Set(values).size} different values`)
  }
})

test('H in the day of the month stays in 1 to 28, so that no month is left out', () => {
  const values = valuesOf('0 0 H * *', 2)
  assert.ok(values.every((value) => value >= 1 && value <= 28))
})

test('H differs between the fields of one schedule', () => {
  const same = SEEDS.filter((seed) => {
    const [second, minute] = fieldsOf('H H 0 * * *', seed)
    return second === minute
  })
  assert.ok(same.length < SEEDS.length / 10, `${same.length} of ${SEEDS.length} have equal second and minute`)
})

test('H in one field does not depend on what stands in another', () => {
  for (const seed of SEEDS.slice(0, 50)) {
    assert.equal(fieldsOf('H 0 * * *', seed)[0], fieldsOf('H 5 1 1 *', seed)[0])
    assert.equal(fieldsOf('0 H * * *', seed)[1], fieldsOf('H H * * *', seed)[1])
  }
})

test('H(a-b) stays in its range and uses all of it', () => {
  const values = valuesOf('0 H(0-7) * * *', 1)
  assert.deepEqual(
    [...new Set(values)].sort((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6, 7],
  )
})

test('H is one value, so the schedule is fixed', () => {
  assert.equal(hashed('H H * * *', 'nightly').timing, 'fixed')
  assert.equal(hashed('H(0-29) H(0-7) * * *', 'nightly').timing, 'fixed')
})

test('H/n keeps the step and spreads the phase: an interval', () => {
  const phases = new Set<number>()
  for (const seed of SEEDS) {
    const subject = hashed('H/15 * * * *', seed)
    assert.equal(subject.timing, 'interval')
    const minutes = subject.nextN(Date.parse('2025-01-01T00:00Z') - 1, 4).map((fire) => new Date(fire).getUTCMinutes())
    assert.deepEqual(
      minutes,
      [0, 15, 30, 45].map((minute) => minute + minutes[0]!),
    )
    phases.add(minutes[0]!)
  }
  assert.equal(phases.size, 15)
})

test('H(a-b)/n keeps the step inside the range', () => {
  for (const seed of SEEDS.slice(0, 50)) {
    const fires = hashed('H(0-29)/10 0 1 1 *', seed).nextN(Date.parse('2025-01-01T00:00Z') - 1, 3)
    const minutes = fires.map((fire) => new Date(fire).getUTCMinutes())
    assert.ok(minutes[0]! <= 9)
    assert.deepEqual(
      minutes,
      [0, 10, 20].map((minute) => minute + minutes[0]!),
    )
  }
})

test('H is read in any case and may stand in a list', () => {
  assertSameSet(cron('h * * * *', { seed: 'a' }), cron('H * * * *', { seed: 'a' }), 'h')
  const minutes = new Set(
    cron('H,30 * * * *', { seed: 'a' })
      .nextN(0, 10)
      .map((fire) => new Date(fire).getUTCMinutes()),
  )
  assert.ok(minutes.has(30))
})

test('normalized names the value and needs no seed', () => {
  for (const expression of ['H H * * *', 'H/15 * * * *', 'H H(0-7) H * H', 'H H H 1 * *']) {
    const subject = hashed(expression, 'nightly')
    assert.doesNotMatch(subject.normalized, /H/i)
    assertSameSet(subject, cron(subject.normalized), expression)
  }
})

test('H without a seed is refused, and so is H for a year or out of range', () => {
  assert.throws(() => cron('0 H * * *'), {
    name: 'CronError',
    code: 'SEED_MISSING',
    field: 'hour',
    position: 2,
    length: 1,
  })
  assert.throws(() => cron('0 0 0 1 1 * H', { seed: 'a' }), { name: 'CronError', field: 'year', position: 12 })
  for (const wrong of [
    'H(50-70)',
    'H(5-2)',
    'H(5)',
    'H()',
    'H(',
    'H)',
    'H/0',
    'H/61',
    'H-5',
    '5-H',
    'HH',
    'H5',
    'H(a-b)',
    'H(1-5',
    '*/H',
  ]) {
    assert.throws(() => cron(`${wrong} * * * *`, { seed: 'a' }), { name: 'CronError' }, wrong)
  }
})

test('a schedule without H does not care for the seed', () => {
  assertSameSet(cron('5 4 * * *', { seed: 'a' }), cron('5 4 * * *'), 'seed')
})
