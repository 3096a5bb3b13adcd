import assert from 'node:assert/strict'
import test from 'node:test'
import { type Segment, ZONE_END, ZONE_START, type Zone, zoneOf } from '../../src/trigger/zone.ts'

const DAY = 86_400_000
const YEARS = [1970, 1986, 1994, 2000, 2011, 2024, 2026, 2060, 2150]

function zone(id: string): Zone {
  return zoneOf(id, { expression: id, position: 0 })
}

/** Offset by calendar fields: another way to ask Intl than the engine's. */
function offsetBy(formatter: Intl.DateTimeFormat, ms: number): number {
  const parts = Object.fromEntries(formatter.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
  const { year, month, day, hour, minute, second } = parts as Record<string, number>
  return Date.UTC(year!, month! - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const numeric = 'numeric' as const
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  })
}

function segmentsOf(id: string, from: number, to: number): Segment[] {
  const segments: Segment[] = []
  for (let at = from; at < to; at = segments.at(-1)!.end) segments.push(zone(id).at(at))
  return segments
}

test('every zone has the offsets of Intl, on either side of each change', () => {
  const zones = Intl.supportedValuesOf('timeZone')
  let checks = 0
  for (const [index, id] of zones.entries()) {
    const formatter = formatterOf(id)
    const year = YEARS[index % YEARS.length]!
    for (const { start, end, offset } of segmentsOf(id, Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1))) {
      for (const ms of [Math.max(start, ZONE_START), (start + end) / 2, end - 1000]) {
        assert.equal(offset, offsetBy(formatter, ms), `${id} ${new Date(ms).toISOString()}`)
        checks++
      }
    }
  }
  assert.ok(checks > zones.length * 3)
})

test('segments follow each other without a hole from 1970 to 2199, and know the change at either end', () => {
  for (const id of ['Africa/Casablanca', 'America/Boa_Vista', 'Africa/Cairo', 'Pacific/Apia', 'Africa/Monrovia']) {
    const segments = segmentsOf(id, ZONE_START, ZONE_END)
    for (const [index, segment] of segments.entries()) {
      const before = segments[index - 1]
      if (before === undefined) continue
      assert.equal(segment.start, before.end)
      assert.equal(segment.shift, segment.offset - before.offset)
      assert.equal(before.nextShift, segment.shift)
    }
    assert.ok(segments.at(-1)!.end >= ZONE_END)
  }
})

test('a chunk never begins within a day of a change', () => {
  let seams = 0
  for (const id of Intl.supportedValuesOf('timeZone').filter((_, index) => index % 40 === 0)) {
    const segments = segmentsOf(id, ZONE_START, Date.UTC(2040, 0, 1))
    for (const [index, { shift, start, end }] of segments.entries()) {
      if (index === 0 || shift !== 0) continue
      seams++
      const before = segments[index - 1]!
      if (before.shift !== 0) assert.ok(start - before.start > DAY, `${id} ${new Date(start).toISOString()}`)
      assert.ok(end - start > DAY, `${id} ${new Date(end).toISOString()}`)
    }
  }
  assert.ok(seams > 100)
})

test('two changes within a week are both seen', () => {
  const changes = segmentsOf('America/Boa_Vista', Date.UTC(2000, 9, 1), Date.UTC(2000, 10, 1)).filter(
    ({ shift, start }) => shift !== 0 && start >= Date.UTC(2000, 9, 1),
  )
  assert.deepEqual(
    changes.map(({ start }) => new Date(start).toISOString()),
    ['2000-10-08T04:00:00.000Z', '2000-10-15T03:00:00.000Z'],
  )
})

test('changes that are close together are found as a day-by-day search finds them, for every step', () => {
  const close: [zone: string, year: number][] = [
    ['America/Recife', 2000],
    ['America/Noronha', 2000],
    ['America/Argentina/Tucuman', 2004],
    ['America/Argentina/San_Juan', 2004],
    ['Africa/Cairo', 2010],
    ['Africa/Cairo', 2014],
    ['Africa/Casablanca', 2012],
  ]
  for (const [id, year] of close) {
    const formatter = formatterOf(id)
    const days = Array.from({ length: 366 }, (_, day) => offsetBy(formatter, Date.UTC(year, 0, 1 + day)))
    const seen = days.filter((offset, day) => day > 0 && offset !== days[day - 1]).length
    const [first, last] = [Date.UTC(year, 0, 1), Date.UTC(year, 0, 366)]
    const found = segmentsOf(id, first, last).filter(
      ({ shift, start }) => shift !== 0 && start > first && start <= last,
    )
    assert.equal(found.length, seen, `${id} ${year}`)
    assert.ok(seen >= 2, `${id} ${year} has changes`)
  }
})

test('changes are found to the second', () => {
  const [change] = segmentsOf('Africa/Monrovia', Date.UTC(1972, 0, 1), Date.UTC(1972, 0, 20)).filter(
    ({ shift }) => shift !== 0,
  )
  assert.equal(new Date(change!.start).toISOString(), '1972-01-07T00:44:30.000Z')
  assert.equal(change!.shift, (44 * 60 + 30) * 1000)
})

test('fixed offsets need no table', () => {
  assert.equal(zone('+05:30').at(0).offset, 5.5 * 3_600_000)
  assert.equal(zone('-0330').at(0).offset, -3.5 * 3_600_000)
  assert.equal(zone('+14').at(0).offset, 14 * 3_600_000)
  for (const id of ['+24:00', '+1', '+05:60', '05:30', '+05:3', 'GMT+2', '', ' ', 'Europe/Lundon', 'local']) {
    assert.throws(() => zone(id), { name: 'CronError', code: 'ZONE_UNKNOWN' }, id)
  }
})
