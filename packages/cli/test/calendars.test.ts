import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { connect, cronce as makeApp } from 'cronce'
import { readIcal } from '../src/import/ical.ts'
import { ask, call } from './cronce.ts'
import { scratch } from './steer-kit.ts'

const folder = scratch()
after(() => rmSync(folder, { recursive: true, force: true }))

const HOLIDAYS = [
  'BEGIN:VCALENDAR',
  'BEGIN:VEVENT',
  'DTSTART;VALUE=DATE:20261225',
  'DTEND;VALUE=DATE:20261227',
  'RRULE:FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25',
  'SUMMARY:Weihn',
  ' achten',
  'END:VEVENT',
  'BEGIN:VEVENT',
  'DTSTART;VALUE=DATE:20270326',
  'BEGIN:VALARM',
  'DTSTART;VALUE=DATE:20200101',
  'END:VALARM',
  'END:VEVENT',
  'BEGIN:VEVENT',
  'DTSTART;VALUE=DATE:20270801',
  'DURATION:P2W',
  'END:VEVENT',
]

function ics(...events: readonly (readonly string[])[]): string {
  const more = events.flatMap((event) => ['BEGIN:VEVENT', ...event, 'END:VEVENT'])
  return `${[...HOLIDAYS, ...more, 'END:VCALENDAR'].join('\r\n')}\r\n`
}

describe('an iCalendar file', () => {
  test('gives its all-day events as entries: single days, ranges, and dates of every year', () => {
    assert.deepEqual(readIcal(ics(), 'x.ics'), {
      days: ['12-25', '12-26', '2027-03-26', '2027-08-01/2027-08-14'],
      events: 3,
      findings: [],
    })
  })

  test('what an entry cannot say is reported, with its line', () => {
    const { days, findings } = readIcal(
      ics(
        ['DTSTART:20270101T090000Z', 'SUMMARY:a meeting\\, weekly'],
        ['DTSTART;VALUE=DATE:20270104', 'RRULE:FREQ=YEARLY;BYDAY=1MO', 'SUMMARY:first Monday'],
        ['DTSTART;VALUE=DATE:20270104', 'RRULE:FREQ=YEARLY;COUNT=2'],
        ['DTSTART;VALUE=DATE:20270104', 'RRULE:FREQ=YEARLY', 'EXDATE;VALUE=DATE:20280104'],
        ['DTSTART;VALUE=DATE:20271231', 'DTEND;VALUE=DATE:20280102', 'RRULE:FREQ=YEARLY'],
        ['DTSTART;VALUE=DATE:20270104', 'DTEND;VALUE=DATE:20270103'],
        ['DTSTART;VALUE=DATE:20270105', 'STATUS:CANCELLED'],
      ),
      'x.ics',
    )
    assert.equal(days.length, 4)
    assert.deepEqual(
      findings.map(({ place, what, why }) => `${place.line} ${what}: ${why}`),
      [
        '19 a meeting, weekly: it is not an all-day event',
        '23 first Monday: it repeats by FREQ=YEARLY;BYDAY=1MO',
        '28 an event: it repeats by FREQ=YEARLY;COUNT=2',
        '32 an event: it has single exceptions',
        '37 an event: it repeats across the year',
        '42 an event: its end is not within 366 days of its start',
      ],
    )
  })

  test('becomes the calendars of a configuration, and the exit code says whether something is missing', async () => {
    const file = join(folder, 'de.ics')
    writeFileSync(file, ics())
    const { status, stdout } = await call('import', 'ical', file, '--name', 'de', '--closed-days', 'SAT SUN')
    assert.equal(status, 0)
    assert.deepEqual(JSON.parse(stdout), {
      calendars: { de: ['SUN', 'SAT', '12-25', '12-26', '2027-03-26', '2027-08-01/2027-08-14'] },
    })
    writeFileSync(file, ics(['DTSTART:20270101T090000Z']))
    const partly = await call('import', 'ical', file)
    assert.equal(partly.status, 1)
    assert.match(partly.stderr, /No weekday is closed/)
  })
})

test('cronce next leaves out closed days, and says what it left out', async () => {
  const days = ['--closed-days', 'SAT SUN 12-25', '--from', '2026-12-23', '-n', '3']
  const { stdout, stderr } = await call('next', '0 9 * * *', ...days)
  assert.deepEqual(
    stdout.split('\n').map((line) => line.slice(0, 14)),
    ['Wed 2026-12-23', 'Thu 2026-12-24', 'Mon 2026-12-28', ''],
  )
  assert.match(stderr, /3 times between them are recorded as skipped: its calendar closes 2026-12-25, and so on\./)
  const moved = await call(
    'next',
    '0 9 25 12 *',
    '--closed-days',
    'SAT SUN 12-25',
    '--excluded',
    'next-working-day',
    '--from',
    '2026-12-23',
    '--json',
  )
  assert.equal(JSON.parse(moved.stdout).next[0], '2026-12-28T09:00:00.000Z')
  assert.equal((await call('next', '0 9 * * *', '--excluded', 'skip')).status, 2)
})

test('a schedule takes the days of a calendar of the configuration, keeps them, and exports what it fires', async () => {
  const config = join(folder, 'cronce.config.json')
  await (await connect({ store: `sqlite:${join(folder, 'put.db')}`, logger: false })).close()
  writeFileSync(
    config,
    JSON.stringify({ store: `sqlite:${join(folder, 'put.db')}`, calendars: { works: ['SAT', 'SUN', '2030-01-01'] } }),
  )
  const say = (...args: string[]) => ask([...args, '--config', config], {}, { cwd: folder, now: Date.now() })
  const calendar = { name: 'works', days: 'SUN SAT 2030-01-01', excluded: 'nearest' }
  const made = await say(
    'schedule',
    'put',
    'rent',
    '--job',
    'rent',
    '--cron',
    '0 9 * * *',
    '--calendar',
    'works',
    '--excluded',
    'nearest',
    '--yes',
    '--json',
  )
  assert.equal(made.status, 0, made.stderr)
  assert.deepEqual(JSON.parse(made.stdout).schedule.trigger.calendar, calendar)
  const kept = await say('schedule', 'put', 'rent', '--cron', '0 10 * * *', '--yes', '--json')
  assert.deepEqual(JSON.parse(kept.stdout).schedule.trigger.calendar, calendar)
  const same = await say('schedule', 'put', 'rent', '--tz', 'Europe/Berlin', '--yes', '--json')
  assert.deepEqual(JSON.parse(same.stdout).schedule.trigger, {
    kind: 'cron',
    expression: '0 10 * * *',
    tz: 'Europe/Berlin',
    calendar,
  })
  assert.match((await say('list')).stdout, /rent/)

  const out = join(folder, 'fires.ics')
  const exported = await say('export', 'ical', 'rent', '--days', '14', '--out', out)
  assert.equal(exported.status, 0, exported.stderr)
  const text = readFileSync(out, 'utf8')
  const starts = [...text.matchAll(/^DTSTART:(\d{8})T(\d{6})Z\r$/gm)].map(([, date]) => date!)
  assert.equal(starts.length, 10)
  const isWeekend = (date: string) =>
    [0, 6].includes(new Date(`${date.replace(/(....)(..)(..)/, '$1-$2-$3')}T12:00Z`).getUTCDay())
  assert.deepEqual(starts.filter(isWeekend), [])
  assert.ok(text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75))
  const ids = [...text.matchAll(/^UID:(.*)\r$/gm)].map(([, id]) => id)
  const later = await say('export', 'ical', 'rent', '--days', '14')
  assert.deepEqual(
    [...later.stdout.matchAll(/^UID:(.*)\r$/gm)].map(([, id]) => id),
    ids,
  )

  const none = await say('schedule', 'put', 'rent', '--calendar', '', '--yes', '--json')
  assert.equal(JSON.parse(none.stdout).schedule.trigger.calendar, undefined)
  const unknown = await say('schedule', 'put', 'rent', '--calendar', 'work', '--yes')
  assert.match(unknown.stderr, /Did you mean works\?/)
})

test('the record of a schedule with a calendar is judged by the checker’s own calendar', async () => {
  const store = `sqlite:${join(folder, 'verify.db')}`
  // Today, and the day after if midnight is near, are closed in the one, and open in the other.
  const today = [0, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10))
  const app = makeApp({ store, logger: false, signals: false })
  app.job('closed', { cron: '* * * * * *', calendar: today }, () => {})
  app.job('open', { cron: '* * * * * *', calendar: ['+2020-01-01', '2020-01-02'] }, () => {})
  await app.start()
  const isDone = async () => (await app.fires.list({ schedule: 'open', outcome: 'succeeded' })).items.length >= 3
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 100))
  await app.stop()
  const verified = await ask(['fires', '--verify', '--store', store], {}, { now: Date.now() })
  assert.equal(verified.status, 0, verified.stdout + verified.stderr)
})
