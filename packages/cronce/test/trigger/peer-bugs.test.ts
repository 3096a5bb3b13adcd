import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iso, oracleFires } from '../../../checker/src/oracle/ask-oracle.ts'
import { CronError, type CronOptions, cron } from '../../src/cron.ts'
import { firesBetween } from './expected-fires.ts'

// Bugs that users of other cron libraries reported, each with the thread it comes from. None of them may be ours.

interface NextRow {
  readonly bug: string
  readonly expression: string
  readonly tz?: string
  readonly from: string
  readonly fires: readonly (string | null)[]
}

const nextRows: readonly NextRow[] = [
  {
    bug: 'cron-parser#25 loops where DST starts at 00:00',
    expression: '0 0 * * *',
    tz: 'America/Sao_Paulo',
    from: '2017-10-14T12:00Z',
    fires: ['2017-10-15T03:00:00Z', '2017-10-16T02:00:00Z'],
  },
  {
    bug: 'cron-parser#134 and #132 `* * 2 * *` never returns',
    expression: '* * 2 * *',
    tz: 'America/Sao_Paulo',
    from: '2018-11-02T23:59Z',
    fires: ['2018-11-03T00:00:00Z', '2018-11-03T00:01:00Z'],
  },
  {
    bug: 'cron-parser#115 a day that no month has loops',
    expression: '0 * * 31 4 *',
    from: '2025-01-01T00:00Z',
    fires: [null],
  },
  {
    bug: 'cron-parser#415 an impossible expression returns a date',
    expression: '0 0 30 2 *',
    from: '2025-01-01T00:00Z',
    fires: [null],
  },
  {
    bug: 'croner#66 loops on a weekday list',
    expression: '0 0 0 * * 1,3,5',
    from: '2025-01-01T00:00Z',
    fires: ['2025-01-03T00:00:00Z', '2025-01-06T00:00:00Z'],
  },
  {
    bug: 'cron-plus#110 (cronosjs) `0 0 30 02 *` takes all CPU',
    expression: '0 0 30 02 *',
    tz: 'Europe/Paris',
    from: '2025-01-01T00:00Z',
    fires: [null],
  },
  {
    bug: 'kelektiv/node-cron#919 `0 1 30 3 *` hangs in Lisbon',
    expression: '0 1 30 3 *',
    tz: 'Europe/Lisbon',
    from: '2025-01-01T00:00Z',
    fires: ['2025-03-30T01:00:00Z', '2026-03-30T00:00:00Z'],
  },
  {
    bug: 'node-schedule#132 all CPU a day before DST',
    expression: '0 2 * * *',
    tz: 'America/Los_Angeles',
    from: '2025-03-08T11:00Z',
    fires: ['2025-03-09T10:00:00Z', '2025-03-10T09:00:00Z'],
  },
  {
    bug: 'node-cron#492 and #509 deadlock at DST',
    expression: '0 3 * * *',
    tz: 'Europe/Berlin',
    from: '2025-03-29T12:00Z',
    fires: ['2025-03-30T01:00:00Z', '2025-03-31T01:00:00Z'],
  },
  {
    bug: 'cron-parser#404 nothing after a gap',
    expression: '0 2 * * *',
    tz: 'Europe/Rome',
    from: '2025-03-29T12:00Z',
    fires: ['2025-03-30T01:00:00Z', '2025-03-31T00:00:00Z'],
  },
  {
    bug: 'cron-parser#66 the shift is handled sometimes',
    expression: '30 2 * * *',
    tz: 'Europe/Athens',
    from: '2025-03-29T12:00Z',
    fires: ['2025-03-30T00:30:00Z', '2025-03-30T23:30:00Z'],
  },
  {
    bug: 'croner#142 the gap day is skipped',
    expression: '0 30 2 * * *',
    tz: 'Europe/Stockholm',
    from: '2025-03-29T12:00Z',
    fires: ['2025-03-30T01:00:00Z', '2025-03-31T00:30:00Z'],
  },
  {
    bug: 'kelektiv/node-cron#120 a minute job stops after fall-back',
    expression: '* * * * *',
    tz: 'America/New_York',
    from: '2025-11-02T05:59:30Z',
    fires: ['2025-11-02T06:00:00Z', '2025-11-02T06:01:00Z', '2025-11-02T06:02:00Z'],
  },
  {
    bug: 'kelektiv/node-cron#563 not fired or fired twice',
    expression: '30 1 * * *',
    tz: 'America/New_York',
    from: '2025-11-02T04:00Z',
    fires: ['2025-11-02T05:30:00Z', '2025-11-03T06:30:00Z'],
  },
  {
    bug: 'kelektiv/node-cron#638 and #639 a time inside the gap fails',
    expression: '0 30 2 9 3 *',
    tz: 'America/New_York',
    from: '2025-01-01T00:00Z',
    fires: ['2025-03-09T07:00:00Z', '2026-03-09T06:30:00Z'],
  },
  {
    bug: 'kelektiv/node-cron#1087 an instant before the question in the repeated hour',
    expression: '30 1 * * *',
    tz: 'America/New_York',
    from: '2025-11-02T06:10Z',
    fires: ['2025-11-03T06:30:00Z'],
  },
  {
    bug: 'node-cron#510 skips a day at 23:55',
    expression: '55 23 * * *',
    tz: 'Europe/Berlin',
    from: '2025-03-29T22:55:00Z',
    fires: ['2025-03-30T21:55:00Z'],
  },
  {
    bug: 'node-cron#510 skips a month on 31 March',
    expression: '0 0 1 * *',
    tz: 'Europe/Berlin',
    from: '2025-03-31T12:00Z',
    fires: ['2025-03-31T22:00:00Z', '2025-04-30T22:00:00Z'],
  },
  {
    bug: 'node-schedule#435 an every-second job silent for an hour',
    expression: '* * * * * *',
    tz: 'America/New_York',
    from: '2025-11-02T05:59:58Z',
    fires: ['2025-11-02T05:59:59Z', '2025-11-02T06:00:00Z', '2025-11-02T06:00:01Z'],
  },
  {
    bug: 'node-schedule#615 eight months late',
    expression: '0 2 * * 0',
    tz: 'America/New_York',
    from: '2025-03-08T12:00Z',
    fires: ['2025-03-09T07:00:00Z', '2025-03-16T06:00:00Z'],
  },
  {
    bug: 'cron-plus#108 (cronosjs) an hour lost for 15-second jobs',
    expression: '*/15 * * * * *',
    tz: 'Europe/London',
    from: '2025-10-26T00:59:45Z',
    fires: ['2025-10-26T01:00:00Z', '2025-10-26T01:00:15Z'],
  },
  {
    bug: 'chronos#247 an hour lost for `*/10 * * * * *`',
    expression: '*/10 * * * * *',
    tz: 'Europe/Berlin',
    from: '2025-10-26T00:59:50Z',
    fires: ['2025-10-26T01:00:00Z', '2025-10-26T01:00:10Z'],
  },
  {
    bug: 'qwen-code#11720 past instants in the second pass',
    expression: '*/5 * * * *',
    tz: 'America/New_York',
    from: '2025-11-02T06:07Z',
    fires: ['2025-11-02T06:10:00Z', '2025-11-02T06:15:00Z'],
  },
  {
    bug: 'croner#253 `5L` read as every Friday',
    expression: '0 0 * * 5L',
    from: '2025-01-01T00:00Z',
    fires: ['2025-01-31T00:00:00Z', '2025-02-28T00:00:00Z'],
  },
  {
    bug: 'croner#54 `0 0 * * sun` jumps to January',
    expression: '0 0 * * sun',
    from: '2025-06-01T00:00Z',
    fires: ['2025-06-08T00:00:00Z'],
  },
  {
    bug: 'cron-parser#259 `7L` never fires',
    expression: '0 0 * * 7L',
    from: '2025-01-01T00:00Z',
    fires: ['2025-01-26T00:00:00Z'],
  },
  {
    bug: 'cron-parser#122 29 February rejected',
    expression: '0 0 29 2 *',
    from: '2025-01-01T00:00Z',
    fires: ['2028-02-29T00:00:00Z'],
  },
  {
    bug: 'cron-parser#54, node-schedule#225 dead in February 2016',
    expression: '0 0 * * *',
    from: '2016-02-28T12:00Z',
    fires: ['2016-02-29T00:00:00Z', '2016-03-01T00:00:00Z'],
  },
  {
    bug: 'kelektiv/node-cron#196 the 30th rejected because of February',
    expression: '0 0 30 * *',
    from: '2025-01-30T00:00Z',
    fires: ['2025-03-30T00:00:00Z'],
  },
  {
    bug: 'cron-parser#3 the roll-over skips a month',
    expression: '0 0 1 * *',
    from: '2025-01-31T23:59Z',
    fires: ['2025-02-01T00:00:00Z'],
  },
  {
    bug: 'effect-smol#2455 days skipped on overflow',
    expression: '0 0 31 * *',
    from: '2025-01-31T12:00Z',
    fires: ['2025-03-31T00:00:00Z', '2025-05-31T00:00:00Z'],
  },
  {
    bug: 'aws-cron-parser#2 `6L` becomes 67',
    expression: '0 0 * * 6L',
    from: '2025-01-01T00:00Z',
    fires: ['2025-01-25T00:00:00Z'],
  },
  {
    bug: 'cron-parser#91 next returns now',
    expression: '0 * * * *',
    from: '2025-01-01T10:00Z',
    fires: ['2025-01-01T11:00:00Z'],
  },
  {
    bug: 'cron-parser#363 milliseconds in the result',
    expression: '* * * * *',
    from: '2025-01-01T10:00:00.123Z',
    fires: ['2025-01-01T10:01:00Z'],
  },
  {
    bug: 'kelektiv/node-cron#358 the same instant again',
    expression: '0 0 0 * * *',
    from: '2024-12-31T23:59:59.999Z',
    fires: ['2025-01-01T00:00:00Z', '2025-01-02T00:00:00Z'],
  },
  {
    bug: 'croner 11 loses a gap that ends on the next date',
    expression: '30 23 * * *',
    tz: 'America/Nuuk',
    from: '2024-03-30T12:00Z',
    fires: ['2024-03-31T01:00:00Z', '2024-04-01T00:30:00Z'],
  },
  {
    bug: 'cron-parser 5.10 loses Cairo 2025-04-25',
    expression: '0 0 * * *',
    tz: 'Africa/Cairo',
    from: '2025-04-24T12:00Z',
    fires: ['2025-04-24T22:00:00Z', '2025-04-25T21:00:00Z'],
  },
  {
    bug: 'cron-parser 5.10 answers an overlap at midnight with the second pass',
    expression: '30 0 * * *',
    tz: 'Asia/Amman',
    from: '2021-10-28T12:00Z',
    fires: ['2021-10-28T21:30:00Z', '2021-10-29T22:30:00Z'],
  },
  {
    bug: 'cron 4.4 goes back and forth at Lord Howe',
    expression: '*/15 * * * *',
    tz: 'Australia/Lord_Howe',
    from: '2025-04-05T14:45Z',
    fires: ['2025-04-05T15:00:00Z', '2025-04-05T15:15:00Z', '2025-04-05T15:30:00Z'],
  },
  {
    bug: 'cron 4.4 answers the past in Apia',
    expression: '51 20 * * *',
    tz: 'Pacific/Apia',
    from: '2010-09-26T11:18Z',
    fires: ['2010-09-27T06:51:00Z'],
  },
  {
    bug: 'cron 4.4 fires before the gap at Lord Howe',
    expression: '15 2 * * *',
    tz: 'Australia/Lord_Howe',
    from: '2025-10-04T12:00Z',
    fires: ['2025-10-04T15:30:00Z'],
  },
  {
    bug: 'cron 4.4 answers the past in Santiago',
    expression: '30 23 * * *',
    tz: 'America/Santiago',
    from: '2025-04-06T03:10Z',
    fires: ['2025-04-07T03:30:00Z'],
  },
  {
    bug: 'cronosjs 1.7 jumps to the second pass at Lord Howe',
    expression: '45 1 * * *',
    tz: 'Australia/Lord_Howe',
    from: '2025-04-05T12:00Z',
    fires: ['2025-04-05T14:45:00Z', '2025-04-06T15:15:00Z'],
  },
  {
    bug: 'node-cron 4.6 answers with the second pass east of Greenwich',
    expression: '31 0 * * *',
    tz: 'Asia/Amman',
    from: '2015-10-29T12:00Z',
    fires: ['2015-10-29T21:31:00Z', '2015-10-30T22:31:00Z'],
  },
  {
    bug: 'node-cron 4.6 answers with the second pass in Auckland',
    expression: '30 2 * * *',
    tz: 'Pacific/Auckland',
    from: '2025-04-05T12:00Z',
    fires: ['2025-04-05T13:30:00Z', '2025-04-06T14:30:00Z'],
  },
  {
    bug: 'cron-schedule 6 answers the past in Anchorage',
    expression: '35 1 * * *',
    tz: 'America/Anchorage',
    from: '2025-11-02T10:05:34Z',
    fires: ['2025-11-03T10:35:00Z'],
  },
  {
    bug: 'cron-schedule 6 reads 15W as 15',
    expression: '0 0 15W * *',
    from: '2025-02-01T00:00Z',
    fires: ['2025-02-14T00:00:00Z'],
  },
  {
    bug: 'cron-schedule 6 gives up on 29 February across 2100',
    expression: '0 0 29 2 *',
    from: '2096-03-01T00:00Z',
    fires: ['2104-02-29T00:00:00Z'],
  },
  {
    bug: 'cronjs 1.4 gives an instant twice at a gap',
    expression: '15 * * * *',
    tz: 'America/New_York',
    from: '2025-03-09T06:00Z',
    fires: ['2025-03-09T06:15:00Z', '2025-03-09T07:15:00Z', '2025-03-09T08:15:00Z'],
  },
  {
    bug: 'cronjs 1.4 loses the Sunday of `5-7`',
    expression: '0 0 * * 5-7',
    from: '2025-01-04T12:00Z',
    fires: ['2025-01-05T00:00:00Z', '2025-01-10T00:00:00Z'],
  },
  {
    bug: 'cronjs 1.4 misses 2017-07-31 for `1#5`',
    expression: '0 0 * * 1#5',
    from: '2017-07-01T00:00Z',
    fires: ['2017-07-31T00:00:00Z'],
  },
  {
    bug: 'cronjs 1.4 has the wrong day in Kiritimati',
    expression: '0 12 * * 1',
    tz: 'Pacific/Kiritimati',
    from: '2025-01-01T00:00Z',
    fires: ['2025-01-05T22:00:00Z'],
  },
  {
    bug: 'mi-cron 1.0 makes 1 March of 29 February',
    expression: '0 0 29 2 *',
    from: '2025-02-01T00:00Z',
    fires: ['2028-02-29T00:00:00Z'],
  },
  {
    bug: 'mi-cron 1.0 makes the 1st of the 31st',
    expression: '0 0 31 * *',
    from: '2025-04-01T00:00Z',
    fires: ['2025-05-31T00:00:00Z'],
  },
  {
    bug: 'croner-wasm 0.3 ignores the zone',
    expression: '0 9 * * *',
    tz: 'Asia/Tokyo',
    from: '2025-01-01T00:00:01Z',
    fires: ['2025-01-02T00:00:00Z'],
  },
  {
    bug: 'effect 4.1 knows no SAT-SUN',
    expression: '0 0 * * SAT-SUN',
    from: '2025-01-01T00:00Z',
    fires: ['2025-01-04T00:00:00Z', '2025-01-05T00:00:00Z'],
  },
  {
    bug: 'Spring misses `31W` in May 2020',
    expression: '0 0 31W * *',
    from: '2020-05-01T00:00Z',
    fires: ['2020-05-29T00:00:00Z'],
  },
]

for (const { bug, expression, tz = 'UTC', from, fires } of nextRows) {
  test(`immune to ${bug}`, () => {
    const subject = cron(expression, { tz })
    assert.deepEqual(answers(subject.nextN(Date.parse(from), fires.length)), fires)
    const last = fires.at(-1) ?? new Date(Date.parse(from) + 40 * 86_400_000).toISOString()
    // Long waits are left to the row itself: the oracle would look at every quarter hour of them.
    const end = Math.min(Date.parse(last) + 1000, Date.parse(from) + 40 * 86_400_000)
    const expected = fires.filter((fire) => fire !== null && Date.parse(fire) < end)
    assert.deepEqual(oracleFires(expression, { tz }, Date.parse(from) + 1, end).map(iso), expected, 'the oracle')
  })
}

function answers(fires: readonly number[]): (string | null)[] {
  return fires.length === 0 ? [null] : fires.map(iso)
}

const refused: readonly (readonly [bug: string, expressions: readonly string[]])[] = [
  ['cron-parser#47 `*/0` and `*/-1` parse, then spin', ['*/0 * * * *', '*/-1 * * * *']],
  ['later#128 `*/-2` loops', ['*/-2 * * * *']],
  ['cron-parser#422 a bare `L` parses and throws later', ['0 0 * * L']],
  ['`5*` read as 5, or as 50 to 59', ['5* * * * *']],
  ['croner 11 accepts `MON#`', ['0 0 * * MON#']],
  ['cron-parser 5.10 accepts the empty text and four fields', ['', '* * * *']],
  ['cron-schedule 6 reads `0x5` as 0 and `1.5` as 1', ['0x5 * * * *', '1.5 * * * *']],
  ['cronjs 1.4 accepts `*/0` and `1,,2`', ['*/0 * * * *', '1,,2 * * * *']],
]

for (const [bug, expressions] of refused) {
  test(`immune to: ${bug}`, () => {
    for (const expression of expressions) assert.throws(() => cron(expression), CronError, expression)
  })
}

test('immune to croner#65: an invalid Date loops', () => {
  assert.throws(() => cron('0 0 * * *').next(new Date('nonsense')), RangeError)
})

test('immune to cron-parser#378: prev skips a day', () => {
  const subject = cron('0 0 * * *', { tz: 'America/Sao_Paulo' })
  const days: (string | null)[] = []
  for (let at = subject.prev(Date.parse('2018-11-05T12:00Z')); at !== null && days.length < 3; at = subject.prev(at))
    days.push(iso(at))
  assert.deepEqual(days, ['2018-11-05T02:00:00Z', '2018-11-04T03:00:00Z', '2018-11-03T03:00:00Z'])
})

test('immune to cron-parser#406: a trigger never loses its zone', () => {
  const subject = cron('0 9 * * *', { tz: 'Asia/Tokyo' })
  const first = subject.next(0)
  subject.prev(Date.parse('2025-01-01T00:00Z'))
  subject.nextN(Date.parse('2030-01-01T00:00Z'), 10)
  assert.equal(subject.next(0), first)
})

test('immune to cron-parser#329: next after prev jumps an hour', () => {
  const subject = cron('0 * * * *', { tz: 'Europe/Berlin' })
  for (const from of ['2025-03-30T00:30Z', '2025-03-30T01:30Z', '2025-10-26T00:30Z', '2025-10-26T01:30Z']) {
    const at = Date.parse(from)
    const prev = subject.prev(at)!
    assert.equal(subject.next(prev), subject.next(at), from)
    assert.equal(subject.next(prev)! - prev, 3_600_000, from)
  }
})

test('immune to croner#284: the zone of the host changes nothing', () => {
  // node --test gives every file its own process, so that the host zone may be changed here.
  const host: { TZ?: string | undefined } = process.env
  const original = host.TZ
  const seen = ['America/New_York', 'Australia/Lord_Howe', 'Europe/London', 'UTC'].map((zone) => {
    host.TZ = zone
    const options: CronOptions = { tz: 'UTC' }
    return firesBetween(cron('30 */1 * * *', options), '2025-03-09T00:00Z', '2025-03-10T00:00Z').join()
  })
  if (original === undefined) delete host.TZ
  else host.TZ = original
  assert.equal(new Set(seen).size, 1)
  assert.equal(seen[0]?.split(',').length, 24)
})

test('immune to cron-parser 5.10: two times in a gap of two hours are one fire each', () => {
  const fires = (time: string) =>
    firesBetween(cron(`${time} * * *`, { tz: 'Antarctica/Troll' }), '2025-03-29T12:00Z', '2025-03-31T12:00Z')
  assert.deepEqual(fires('30 1'), ['2025-03-30T01:00:00Z', '2025-03-30T23:30:00Z'])
  assert.deepEqual(fires('30 2'), ['2025-03-30T01:00:00Z', '2025-03-31T00:30:00Z'])
})

test('immune to node-cron 4.6: every minute fires every minute of the repeated hour', () => {
  for (const [tz, from] of [
    ['America/New_York', '2025-11-02T04:00Z'],
    ['Australia/Lord_Howe', '2025-04-05T13:00Z'],
  ] as const) {
    const fires = cron('* * * * *', { tz }).nextN(Date.parse(from), 240)
    assert.deepEqual(
      fires,
      Array.from({ length: 240 }, (_, index) => Date.parse(from) + (index + 1) * 60_000),
      tz,
    )
  }
})
