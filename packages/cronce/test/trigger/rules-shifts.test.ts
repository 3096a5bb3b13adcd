import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iso } from '../../../checker/src/oracle/ask-oracle.ts'
import { type CronOptions, cron } from '../../src/cron.ts'
import { type ExpectedFires, testRows } from './expected-fires.ts'

// R7 to R10 and the options that change them, at New York's two changes of 2025:
// 9 March 02:00 -> 03:00 (07:00Z) and 2 November 02:00 -> 01:00 (06:00Z).

const SPRING = { from: '2025-03-09T05:00Z', to: '2025-03-09T09:00Z' } as const
const AUTUMN = { from: '2025-11-02T04:30Z', to: '2025-11-02T08:00Z' } as const

type Row = (rule: string, expression: string, fires: readonly string[], options?: CronOptions) => ExpectedFires

/** Rows for one night in New York; fires are times of that day in UTC. */
function rowsFor(night: { from: string; to: string }): Row {
  return (rule, expression, fires, options = {}) => ({
    rule,
    expression,
    options: { tz: 'America/New_York', ...options },
    ...night,
    fires: fires.map((time) => `${night.from.slice(0, 10)}T${time}:00Z`),
  })
}

const spring = rowsFor(SPRING)
const autumn = rowsFor(AUTUMN)

testRows([
  spring('R8 a fixed time in the gap fires when the gap ends', '30 2 * * *', ['07:00']),
  spring('R8 many fixed times in the gap fire once', '0,20,40 2 * * *', ['07:00']),
  spring('R8 a fire at the end of the gap anyway is the same fire', '0 2,3 * * *', ['07:00']),
  spring('R8 fixed times around the gap stay', '59 1,2,3 * * *', ['06:59', '07:00', '07:59']),
  spring('R8 an interval loses what does not exist', '*/30 2 * * *', []),
  spring('R8 an hourly schedule keeps its cadence', '15 * * * *', ['05:15', '06:15', '07:15', '08:15']),
  spring('R8 a range of hours is an interval', '30 1-3 * * *', ['06:30', '07:30']),
  spring('R8 the date fields are judged on the skipped date', '30 2 9 3 SUN', ['07:00']),
  spring('R8 the date fields are judged on the skipped date', '30 2 10 * *', []),
  spring('R8 seconds in the gap', '5,10 30 2 * * *', ['07:00']),
  autumn('R9 a fixed time fires in the first pass only', '30 1 * * *', ['05:30']),
  autumn('R9 fixed times fire in the first pass only', '0,30 1,2 * * *', ['05:00', '05:30', '07:00', '07:30']),
  autumn('R9 an interval fires in both passes', '*/30 1 * * *', ['05:00', '05:30', '06:00', '06:30']),
  autumn('R9 an hourly schedule fires in both passes', '15 * * * *', ['05:15', '06:15', '07:15']),
])

const GAP = '30 2 * * *'
const GAP_INTERVAL = '*/30 2 * * *'
const OVERLAP = '30 1 * * *'
const OVERLAP_INTERVAL = '*/30 1 * * *'

testRows([
  spring('dst auto', GAP, ['07:00'], { dst: 'auto' }),
  spring('dst wall skips the gap', GAP, [], { dst: 'wall' }),
  spring('dst once skips the gap', GAP, [], { dst: 'once' }),
  spring('dst shift moves by the length of the gap', GAP, ['07:30'], { dst: 'shift' }),
  spring('dst shift moves intervals too', GAP_INTERVAL, ['07:00', '07:30'], { dst: 'shift' }),
  spring('dst shift merges with what fires there anyway', '30 2,3 * * *', ['07:30'], { dst: 'shift' }),
  spring('gap after', GAP, ['07:00'], { dst: 'wall', gap: 'after' }),
  spring('gap after holds for intervals', GAP_INTERVAL, ['07:00'], { gap: 'after' }),
  spring('gap after for an hourly schedule', '15 * * * *', ['05:15', '06:15', '07:00', '07:15', '08:15'], {
    gap: 'after',
  }),
  spring('gap skip', GAP, [], { gap: 'skip' }),
  spring('gap shift', GAP, ['07:30'], { gap: 'shift' }),
  spring('gap auto follows dst', GAP, [], { dst: 'wall', gap: 'auto' }),
  spring('overlap does not touch the gap', GAP, ['07:00'], { overlap: 'both' }),
  autumn('dst wall fires twice', OVERLAP, ['05:30', '06:30'], { dst: 'wall' }),
  autumn('dst once fires in the first pass', OVERLAP_INTERVAL, ['05:00', '05:30'], { dst: 'once' }),
  autumn('dst shift fires in the first pass', OVERLAP_INTERVAL, ['05:00', '05:30'], { dst: 'shift' }),
  autumn('overlap first', OVERLAP_INTERVAL, ['05:00', '05:30'], { overlap: 'first' }),
  autumn('overlap second', OVERLAP, ['06:30'], { overlap: 'second' }),
  autumn('overlap second holds for intervals', OVERLAP_INTERVAL, ['06:00', '06:30'], { overlap: 'second' }),
  autumn('overlap both', OVERLAP, ['05:30', '06:30'], { overlap: 'both' }),
  autumn('overlap overrides its half of dst', OVERLAP, ['06:30'], { dst: 'wall', overlap: 'second' }),
  autumn('overlap auto follows dst', OVERLAP, ['05:30', '06:30'], { dst: 'wall', overlap: 'auto' }),
  autumn('gap does not touch the overlap', OVERLAP, ['05:30'], { gap: 'skip' }),
])

test('R10 a skipped date is skipped in every mode', () => {
  let modes = 0
  for (const dst of ['auto', 'wall', 'once', 'shift'] as const) {
    for (const gap of ['auto', 'after', 'skip', 'shift'] as const) {
      const subject = cron('0 12 30 12 *', { tz: 'Pacific/Apia', dst, gap })
      const fires = subject.nextN(Date.parse('2010-12-01T00:00Z'), 2).map(iso)
      assert.deepEqual(fires, ['2010-12-30T22:00:00Z', '2012-12-29T22:00:00Z'], `${dst} ${gap}`)
      modes += 1
    }
  }
  assert.equal(modes, 16)
})

test('R10 a change of standard time is a shift like any other', () => {
  const fixed = cron('45 2 * * *', { tz: 'America/Caracas' })
  assert.deepEqual(fixed.nextN(Date.parse('2016-05-01T00:00Z'), 2).map(iso), [
    '2016-05-01T07:00:00Z',
    '2016-05-02T06:45:00Z',
  ])
})

test('a daily schedule fires once per local date in every zone and year', () => {
  let days = 0
  for (const tz of ['America/New_York', 'Australia/Lord_Howe', 'Antarctica/Troll', 'Africa/Cairo', 'America/Nuuk']) {
    for (const time of ['0 0', '30 1', '15 2', '30 2', '30 23', '0 3']) {
      const fires = cron(`${time} * * *`, { tz }).nextN(Date.parse('2024-01-01T12:00Z'), 731)
      assert.ok(
        fires.at(-1)! < Date.parse('2026-01-02T00:00Z') && fires.at(-1)! > Date.parse('2025-12-30T00:00Z'),
        `${time} ${tz}`,
      )
      days += fires.length
    }
  }
  assert.equal(days, 5 * 6 * 731)
})
