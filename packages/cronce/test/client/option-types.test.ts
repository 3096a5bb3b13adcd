import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronce } from '../../src/app/cronce.ts'
import type { StandardSchema } from '../../src/client/standard-schema.ts'
import { memory } from '../../src/store/memory/memory.ts'
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

interface Recipient {
  readonly to: string
}

const RECIPIENT: StandardSchema<Recipient> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof (value as Recipient | undefined)?.to === 'string'
        ? { value: value as Recipient }
        : { issues: [{ message: 'no recipient' }] },
  },
}

test('the input of a schedule is that of the schema of its job, for an app whose type knows the job', async () => {
  const app = cronce({ store: memory(), logger: false })
    .job('report', { schema: RECIPIENT }, () => {})
    .job('plain', '0 3 * * *', () => {})
    .job('other', { schema: RECIPIENT, command: ['true'] })
  const { schedules } = app
  await schedules.put('a', { job: 'report', cron: '0 8 * * *', input: { to: 'ada' } })
  await schedules.create('b', { job: 'plain', cron: '0 8 * * *', input: [1, 'two'] })
  await schedules.put('c', { job: 'elsewhere', cron: '0 8 * * *', input: { any: 'JSON' } })
  // @ts-expect-error another type than the schema takes
  await assert.rejects(schedules.put('d', { job: 'report', cron: '0 8 * * *', input: { to: 5 } }))
  // @ts-expect-error a field that the schema does not have
  await schedules.create('e', { job: 'other', cron: '0 8 * * *', input: { to: 'ada', cc: 'bob' } })
  // @ts-expect-error no JSON, for whichever job
  await assert.rejects(schedules.replace('c', { job: 'elsewhere', cron: '0 8 * * *', input: () => {} }))
  await app.stop()
})

test('an app whose type knows no job takes any JSON, and one that knows some can be passed where any app is expected', async () => {
  const open = cronce({ store: memory(), logger: false })
  open.job('report', { schema: RECIPIENT }, () => {})
  const name: string = 'report'
  await assert.rejects(open.schedules.put('a', { job: 'report', input: { to: 5 } }), { code: 'INPUT_INVALID' })
  const typed: typeof open = open.job('other', { schema: RECIPIENT }, () => {}).job(`${name}-2`, {}, () => {})
  await typed.schedules.put('b', { job: name, input: { to: 'ada' } })
  await open.stop()
})
