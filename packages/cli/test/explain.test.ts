import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { call, cronce } from './cronce.ts'

const FROM = ['--from', '2026-11-16'] as const

type Label =
  | 'words'
  | 'normalised'
  | 'timing'
  | 'zone'
  | 'frequency'
  | 'smallest gap'
  | 'next'
  | 'zone changes'
  | 'notes'

/** Lines of the explanation by label, joined where they were wrapped. */
async function explain(...args: string[]): Promise<Readonly<Record<Label, string>>> {
  const { status, stdout, stderr } = await call('explain', ...args, ...FROM)
  assert.equal(stderr, '')
  assert.equal(status, 0)
  const rows: Partial<Record<Label, string>> = {}
  let label: Label = 'words'
  for (const line of stdout.trimEnd().split('\n')) {
    label = (line.slice(0, 14).trim() || label) as Label
    rows[label] = `${rows[label] ?? ''} ${line.slice(14)}`.trim()
  }
  return rows as Record<Label, string>
}

describe('cronce explain', () => {
  test('a daily job in London: words, class, frequency and both changes of the clock', async () => {
    const { stdout } = await cronce(['explain', '30 1 * * *', '--tz', 'Europe/London', ...FROM])
    assert.equal(
      stdout,
      `words         At 01:30, every day
normalised    30 1 * * *
timing        fixed: it names times of day; a time that the clock skips fires once, when the gap
              ends, and one that comes twice fires the first time only
zone          Europe/London
frequency     once a day (366 in the next 366 days)
smallest gap  23h30m
next          Mon 2026-11-16 01:30 +00:00  2026-11-16T01:30:00Z  in 1h30m
              Tue 2026-11-17 01:30 +00:00  2026-11-17T01:30:00Z  in 1d1h
              Wed 2026-11-18 01:30 +00:00  2026-11-18T01:30:00Z  in 2d1h
zone changes  Sun 2027-03-28 02:00 +01:00  clock forward 1h: 01:30 does not exist, so it fires at 02:00 instead
              Sun 2027-10-31 01:00 +00:00  clock back 1h: 01:30 comes twice, fires the first time only
`,
    )
  })

  test('an interval in New York loses the skipped hour and repeats the other', async () => {
    const rows = await explain('*/30 1-2 * * *', '--tz', 'America/New_York')
    assert.match(rows.timing, /^interval: .* skips do not fire, and those that come twice fire both times$/)
    assert.equal(
      rows['zone changes'],
      'Sun 2027-03-14 03:00 -04:00  clock forward 1h: 02:00 and 02:30 do not exist and do not fire ' +
        'Sun 2027-11-07 01:00 -05:00  clock back 1h: 01:00 and 01:30 come twice and fire twice',
    )
  })

  test('a job at noon is left alone by the clock', async () => {
    const rows = await explain('0 12 * * MON-FRI', '--tz', 'America/New_York')
    assert.equal(rows['zone changes'].match(/nothing changes/g)!.length, 2)
    assert.equal(rows.frequency, '5 times a week (262 in the next 366 days)')
  })

  test('--dst changes the described clock times', async () => {
    const rows = await explain('30 1 * * *', '--tz', 'Europe/London', '--dst', 'shift')
    assert.match(rows.timing, /fires later by the length of the gap/)
    assert.match(rows['zone changes'], /01:30 does not exist, so it fires at 02:30 instead/)
  })

  test('two restricted day fields: OR here, AND elsewhere, and how to write each', async () => {
    const or = await explain('0 0 13 * FRI')
    const and = await explain('0 0 13 * FRI', '--days', 'and')
    assert.equal(or.words, 'At 00:00, on day 13 of the month, and also every Friday')
    assert.match(or.notes, /\(OR\), as in crontab and Kubernetes\. Spring, Cronos, node-cron and temporal\.io/)
    assert.match(or.notes, /0 0 13 \* \+5$/)
    assert.equal(and.words, 'At 00:00, on day 13 of the month, but only if that is a Friday')
    assert.match(and.notes, /because of --days and, must both match \(AND\).* either is enough \(OR\)/)
  })

  test('a star with a step in a day field is where Vixie cron differs', async () => {
    const { notes } = await explain('0 0 */2 * 1')
    assert.match(notes, /Vixie cron and cronie take a field that begins with \*, such as \*\/2, for unrestricted/)
    assert.match(notes, /the gap at the end of a month is 1 to 2 days, not 2/)
  })

  test('any other day field that begins with a star is one to Vixie cron, too', async () => {
    const either = await explain('0 0 *,5 * 1')
    const both = await explain('0 0 *,5 * 1', '--days', 'vixie')
    const plain = await explain('0 0 */01 * 1')
    assert.match(either.notes, /Vixie cron and cronie take a field that begins with \*, such as \*,5, for unrestricted/)
    assert.match(both.notes, /\*,5 begins with \*: Vixie cron then wants both to match \(AND\)/)
    assert.doesNotMatch(both.notes, /--days and|Spring/)
    assert.doesNotMatch(plain.notes ?? '', /Vixie/)
  })

  test('a weekday that decides alone is counted by the week', async () => {
    const rows = await explain('0 0 1-31 * +1')
    assert.equal(rows.words, 'At 00:00, every Monday')
    assert.match(rows.frequency, /^once a week /)
  })

  test('a step that does not divide the hour', async () => {
    const rows = await explain('*/45 * * * *')
    assert.equal(rows.words, 'At 0 and 45 minutes past the hour')
    assert.equal(rows['smallest gap'], '15m')
    assert.match(rows.notes, /the gap after minute 45 is 15m, not 45m\. .* cronce has @every 45m/)
  })

  test('a step that is too large, in a dialect that counts weekdays from 1', async () => {
    const { notes } = await explain('0 0 10 ? * 7/2', '--dialect', 'quartz')
    assert.match(notes, /7\/2 in the day of week names only Saturday/)
  })

  test('a weekday number in an expression that was written for Quartz', async () => {
    const message = /2 is Tuesday here, and Monday in Quartz and EventBridge\. Write MON, or --dialect quartz/
    assert.match((await explain('0 0 12 ? * 2 2027')).notes, message)
    assert.match((await explain('0 0 12 ? * 2')).notes, message)
    for (const args of [['0 0 12 ? * 2 2027', '--dialect', 'quartz'], ['0 0 12 ? * MON'], ['0 12 * * 2']]) {
      assert.doesNotMatch((await explain(...(args as [string]))).notes ?? '', /in Quartz and/)
    }
  })

  test('a count that would take too long is rough', async () => {
    assert.equal((await explain('* * * * * *')).frequency, '86,400 times a day (about 32 million in the next 366 days)')
    assert.match(
      (await explain('*/2 * * * * * 2027')).frequency,
      /^about 16 million times more, the last .* 23:59:58 UTC/,
    )
  })

  test('six fields begin with seconds, and a star there fires sixty times', async () => {
    const rows = await explain('* 0 9 * * *')
    assert.match(rows.notes, /Six fields: the first is the second.*fires 60 times in every minute that matches/)
    assert.match(rows.frequency, /^60 times a day /)
  })

  test('H shows the value that it was hashed to', async () => {
    const rows = await explain('H H(0-7) * * *', '--seed', 'nightly')
    assert.equal(rows.normalised, '41 7 * * *')
    assert.match(rows.notes, /H in the minute became 41 and H\(0-7\) in the hour became 7 for the seed "nightly"/)
    assert.match(rows.notes, /Jenkins, cron-parser and Cronos have H, too, and hash differently\.$/)
  })

  test('L, W, # and ? do not travel to crontab', async () => {
    const specials = await explain('0 0 LW,15W * FRI#5,2L')
    assert.match(specials.notes, /L, W, and # are unknown to crontab and Kubernetes/)
    assert.match(specials.notes, /Months without a 5th such weekday are left out/)
    const question = await explain('0 0 ? * 1')
    assert.equal(question.notes, '? means * here and in Kubernetes; crontab does not know it.')
    const step = await explain('5/15 * * * *')
    assert.match(step.notes, /5\/15 has a step without a range, which crontab does not know/)
  })

  test('an expression that never fires is reported first', async () => {
    const { stdout } = await call('explain', '0 0 31 4,6 *', ...FROM)
    assert.match(stdout, /^NEVER FIRES: April and June have no day 31\.\n\nwords /)
    assert.doesNotMatch(stdout, /^(next|frequency) /m)
    const { never, notes } = JSON.parse((await call('explain', '0 0 30 2 *', '--json')).stdout)
    assert.deepEqual([never, notes], [true, [{ code: 'NEVER', message: 'February has no day 30.' }]])
  })

  test('days that not every month has', async () => {
    const plain = await explain('0 0 31 * *')
    const nearest = await explain('0 0 31W * *')
    const leap = await explain('0 0 29 2 *')
    const either = await explain('0 0 31 * FRI')
    assert.match(plain.notes, /Months without day 31 are left out\. .* write L/)
    assert.match(nearest.notes, /Months with fewer than 31 days are left out/)
    assert.match(leap.notes, /29 February exists only in leap years/)
    assert.match(leap.frequency, /^about once in 4\.1 years/)
    assert.match((await explain('0 0 29 * *')).notes, /29 February exists only in leap years/)
    assert.doesNotMatch(either.notes, /left out/)
  })

  test('@every and @reboot have sensible answers', async () => {
    const every = await explain('@every 90m', '--tz', 'Asia/Kolkata')
    const reboot = await explain('@reboot')
    assert.equal(every.words, 'Every 1h30m of elapsed time')
    assert.match(every.next, /^Mon 2026-11-16 01:00 \+05:30 /)
    assert.match(every.notes, /^Counted from 1970-01-01T00:00:00Z/)
    assert.deepEqual(reboot, {
      words: 'When a process starts',
      timing: 'event: it has no times of its own, so there is no next one',
    })
  })

  test('a rate is explained for users of EventBridge', async () => {
    const { notes } = await explain('rate(5 minutes)', '--dialect', 'eventbridge')
    assert.match(notes, /^Counted from 1970-01-01T00:00:00Z.* EventBridge counts a rate from its start date/)
    assert.doesNotMatch(notes, /@every|crontab/)
  })

  test('a zone in front of @every is the one its times are printed in', async () => {
    const rows = await explain('CRON_TZ=Asia/Kolkata @every 90m', '--tz', 'Asia/Tokyo')
    assert.equal(rows.zone, 'Asia/Kolkata')
    assert.match(rows.next, /^Mon 2026-11-16 01:00 \+05:30 /)
    assert.match(rows.notes, /^CRON_TZ= decides the zone of the times printed, Asia\/Kolkata; the interval has none\./)
  })

  test('zone changes before 1970 are not known, which is not the same as none', async () => {
    const changes = async (from: string): Promise<string> => {
      const { stdout } = await call('explain', '30 1 * * *', '--tz', 'America/New_York', '--from', from)
      return /^zone changes {2}([\s\S]*)/m.exec(stdout)![1]!.replace(/\s+/g, ' ')
    }
    assert.equal((await changes('1960-01-01')).trim(), 'changes before 1970 are not known')
    assert.match(
      await changes('1969-12-01'),
      /^changes before 1970 are not known Sun 1970-04-26 03:00 -04:00 clock forward/,
    )
    assert.match(await changes('1970-01-01'), /^Sun 1970-04-26 03:00 -04:00 clock forward/)
  })

  test('--json is one object with everything in it', async () => {
    const args = ['explain', '30 2 * * *', '--tz', 'America/New_York', ...FROM, '--json']
    const { stdout, stderr } = await call(...args)
    const { changes, notes, ...rest } = JSON.parse(stdout)

    assert.equal(stderr, '')
    assert.deepEqual(rest, {
      version: 1,
      expression: '30 2 * * *',
      words: 'At 02:30, every day',
      normalized: '30 2 * * *',
      tz: 'America/New_York',
      timing: 'fixed',
      never: false,
      frequency: {
        words: 'once a day',
        from: '2026-11-16T05:00:00.000Z',
        to: '2027-11-17T05:00:00.000Z',
        fires: 366,
        exact: true,
      },
      smallestGapMs: 84_600_000,
      next: ['2026-11-16T07:30:00.000Z', '2026-11-17T07:30:00.000Z', '2026-11-18T07:30:00.000Z'],
    })
    assert.deepEqual(notes, [])
    assert.deepEqual(changes[0], {
      at: '2027-03-14T07:00:00.000Z',
      offsetBefore: '-05:00',
      offsetAfter: '-04:00',
      effect: 'moved',
      count: 1,
      fires: [{ local: '2027-03-14T02:30:00', at: ['2027-03-14T07:00:00.000Z'] }],
    })
  })
})
