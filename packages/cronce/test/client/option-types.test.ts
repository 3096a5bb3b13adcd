import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Duration, type JobOptions, type NewSchedule, parseDurations } from './option-types.ts'

test('durations are texts that the parser accepts, and the compiler knows them', () => {
  const fine: readonly Duration[] = ['5m', '1h30m', '500ms', '1.5h', '2w', '1d12h30m', 90_000]
  assert.ok(parseDurations(fine).every((ms) => ms !== null))
  const wrong: readonly Duration[] = [
    // @ts-expect-error a word
    '5 minutes',
    // @ts-expect-error no unit
    '30',
    // @ts-expect-error another unit
    '1y',
  ]
  assert.deepEqual(parseDurations(wrong), [null, null, null])
})

test('cron, every and at are exclusive for the compiler', () => {
  const fine: readonly JobOptions[] = [{ cron: '0 3 * * *', tz: 'Europe/London' }, { every: '5m' }, { at: 0 }, {}]
  // @ts-expect-error two triggers
  const two: JobOptions = { cron: '0 3 * * *', every: '5m' }
  // @ts-expect-error a zone belongs to cron
  const zone: JobOptions = { every: '5m', tz: 'Europe/London' }
  // @ts-expect-error two triggers
  const schedule: NewSchedule = { job: 'report', every: '5m', at: 0 }
  assert.equal([...fine, two, zone, schedule].length, 7)
})
