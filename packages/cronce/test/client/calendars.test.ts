import assert from 'node:assert/strict'
import test from 'node:test'
import { readCalendars } from '../../src/client/read-calendar.ts'
import { readDefinition } from '../../src/client/read-definition.ts'
import type { ScheduleOptions } from '../../src/client/schedule-options.ts'
import { CronceError } from '../../src/errors.ts'

const KNOWN = readCalendars({ works: ['sunday', 'SAT', '2026-12-25', '2026-12-24'], text: 'SAT 12-25' })

function triggerOf(options: object) {
  const { definition } = readDefinition('rent', options as ScheduleOptions, {}, 'Schedule', KNOWN)
  assert.ok(definition.trigger?.kind === 'cron')
  return definition.trigger
}

function refused(options: object): string {
  try {
    triggerOf(options)
  } catch (error) {
    assert.ok(error instanceof CronceError)
    return `${error.code}: ${error.message} ${error.hint}`
  }
  assert.fail('it is refused')
}

const NINE = { cron: '0 9 * * *', tz: 'Europe/Berlin' }

test('the days of a named calendar become part of the definition, in one form', () => {
  assert.deepEqual(triggerOf({ ...NINE, calendar: 'works', excluded: 'nearest' }).calendar, {
    name: 'works',
    days: 'SUN SAT 2026-12-24/2026-12-25',
    excluded: 'nearest',
  })
  assert.deepEqual(triggerOf({ ...NINE, calendar: 'text' }).calendar, { name: 'text', days: 'SAT 12-25' })
})

test('days may stand beside the expression, and what is stored can be given back', () => {
  assert.deepEqual(triggerOf({ ...NINE, calendar: ['12-25', 'sat'] }).calendar, { days: 'SAT 12-25' })
  const stored = triggerOf({ ...NINE, calendar: { name: 'own', days: ['SAT'] }, excluded: 'next-working-day' })
  const { kind: _, ...spec } = stored
  assert.deepEqual(triggerOf({ cron: spec }), stored)
  assert.equal('calendar' in triggerOf(NINE), false)
})

test('what means nothing, or something else than it seems, is refused with what to write', () => {
  assert.match(refused({ ...NINE, calendar: 'work' }), /OPTION_INVALID.*can't be "work".*Did you mean works\?/)
  assert.match(refused({ ...NINE, calendar: 'elsewhere' }), /cronce\(\{ calendars: .*Known are works, text\./)
  assert.match(refused({ ...NINE, excluded: 'skip' }), /OPTION_CONFLICT.*means nothing without calendar/)
  assert.match(refused({ ...NINE, calendar: 'works', excluded: 'next' }), /Did you mean next-working-day|expected skip/)
  assert.match(refused({ ...NINE, calendar: { days: 'SAT', excluded: 'skip' }, excluded: 'skip' }), /both in calendar/)
  assert.match(refused({ ...NINE, calendar: 5 }), /OPTION_INVALID/)
  assert.match(refused({ ...NINE, calendar: [5] }), /a list of weekdays and dates/)
  assert.match(refused({ ...NINE, calendar: ['25.12.'] }), /"25\.12\." is not an entry of a calendar.*12-25/)
  assert.match(refused({ ...NINE, calendar: ['2026-02-29'] }), /is not an entry/)
  assert.match(refused({ ...NINE, calendar: ['2026-12-26/2026-12-24'] }), /earlier date first/)
  assert.match(refused({ ...NINE, calendar: ['saterday'] }), /Did you mean SATURDAY\?/)
  assert.match(refused({ every: '1d', calendar: 'works' }), /means nothing without cron/)
  assert.match(refused({ cron: '@every 1d', calendar: 'works' }), /An interval has no days/)
})

test('a calendar that closes every day never fires, and is refused as such', () => {
  assert.match(refused({ ...NINE, calendar: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] }), /fires at some time/)
})

test('a calendar has at most 1,000 entries', () => {
  const dates = Array.from({ length: 1_001 }, (_, day) =>
    new Date(Date.UTC(2026, 0, 1 + 2 * day)).toISOString().slice(0, 10),
  )
  assert.match(refused({ ...NINE, calendar: dates }), /at most 1000 entries, not 1001/)
  assert.equal(triggerOf({ ...NINE, calendar: dates.slice(1) }).calendar?.days.split(' ').length, 1_000)
})

test('the option calendars is an object of lists', () => {
  assert.throws(() => readCalendars(['SAT']), /can't be/)
  assert.throws(() => readCalendars({ works: 5 }), /calendars\.works/)
})
