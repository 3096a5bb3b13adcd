import assert from 'node:assert/strict'
import test from 'node:test'
import { type CronOptions, cron } from '../../src/cron.ts'
import { repeatsTimes, skipsTimes } from '../../src/trigger/cron-trigger.ts'
import { ZONE_END, ZONE_START, type Zone, zoneOf } from '../../src/trigger/zone.ts'

const NEW_YORK = { tz: 'America/New_York' }
const DAY = 86_400_000

function next(expression: string, options: CronOptions, from: string, more = 0): string | null {
  const at = cron(expression, options).next(Date.parse(from) + more)
  return at === null ? null : new Date(at).toISOString()
}

function prev(expression: string, options: CronOptions, from: string, more = 0): string | null {
  const at = cron(expression, options).prev(Date.parse(from) + more)
  return at === null ? null : new Date(at).toISOString()
}

test('a question from far away that lands in a repeated hour gets the pass that counts', () => {
  assert.equal(next('30 1 7 11 *', NEW_YORK, '2027-01-01T00:00Z'), '2027-11-07T05:30:00.000Z')
  assert.equal(prev('30 1 7 11 *', NEW_YORK, '2028-01-01T00:00Z'), '2027-11-07T05:30:00.000Z')
  const second = { ...NEW_YORK, overlap: 'second' } as const
  assert.equal(next('30 1 7 11 *', second, '2027-01-01T00:00Z'), '2027-11-07T06:30:00.000Z')
  assert.equal(prev('30 1 7 11 *', second, '2028-01-01T00:00Z'), '2027-11-07T06:30:00.000Z')
})

test('a question from far away that lands in a gap gets the instant at which it ends', () => {
  assert.equal(next('30 2 14 3 *', NEW_YORK, '2026-06-01T00:00Z'), '2027-03-14T07:00:00.000Z')
  assert.equal(prev('30 2 14 3 *', NEW_YORK, '2027-12-01T00:00Z'), '2027-03-14T07:00:00.000Z')
  assert.equal(next('30 2 14 3 *', { ...NEW_YORK, gap: 'skip' }, '2026-06-01T00:00Z'), '2028-03-14T06:30:00.000Z')
})

test('from one change to another a year later, nothing in between is overlooked', () => {
  assert.equal(next('0 30 1 7 11 * 2027', NEW_YORK, '2026-11-01T05:30Z'), '2027-11-07T05:30:00.000Z')
  assert.equal(next('0 30 2 14 3 * 2027', NEW_YORK, '2026-11-01T05:30Z'), '2027-03-14T07:00:00.000Z')
  assert.equal(prev('0 30 1 1 11 * 2026', NEW_YORK, '2027-11-07T05:30Z'), '2026-11-01T05:30:00.000Z')
  assert.equal(prev('0 30 2 14 3 * 2027', NEW_YORK, '2027-11-07T05:30Z'), '2027-03-14T07:00:00.000Z')
})

test('half a millisecond decides on which side of a change a question stands', () => {
  const change = '2027-03-14T07:00:00.000Z'
  assert.equal(next('30 2 * * *', NEW_YORK, change, -0.5), change)
  assert.equal(next('30 2 * * *', NEW_YORK, change), '2027-03-15T06:30:00.000Z')
  assert.equal(prev('30 2 * * *', NEW_YORK, change, 0.5), change)
  assert.equal(prev('30 2 * * *', NEW_YORK, change), '2027-03-13T07:30:00.000Z')
  assert.equal(next('0 12 * * *', NEW_YORK, '2027-06-01T16:00:00Z', -0.5), '2027-06-01T16:00:00.000Z')
  assert.equal(prev('0 12 * * *', NEW_YORK, '2027-06-01T16:00:00Z', 0.5), '2027-06-01T16:00:00.000Z')
})

test('a table that would begin in a repeated hour begins elsewhere', () => {
  const troll = { tz: 'Antarctica/Troll', overlap: 'second' } as const
  assert.equal(next('30 1 * * *', troll, '2187-10-27T22:00Z'), '2187-10-28T01:30:00.000Z')
})

test('no table begins within a day of a change, in any zone that changes in autumn 2187', () => {
  // 2187-10-28 is 102 chunks from the start, and the last Sunday of October.
  const seam = ZONE_START + 102 * 780 * DAY
  assert.equal(new Date(seam).toISOString().slice(0, 10), '2187-10-28')
  let moved = 0
  for (const id of Intl.supportedValuesOf('timeZone').filter((name) => name.startsWith('Europe/'))) {
    const zone: Zone = zoneOf(id, { expression: id, position: 0 })
    const { start, end, shift } = zone.at(seam + 4 * DAY)
    if (shift !== 0) continue
    assert.ok(end - start > DAY && zone.at(start - 1).start < start - DAY, id)
    if (start !== seam) moved++
  }
  assert.ok(moved > 10, `${moved} zones had to move`)
})

test('the last and the first fire of all are found from anywhere', () => {
  assert.equal(next('0 0 12 31 12 * 2199', NEW_YORK, '1970-01-01T00:00Z'), '2199-12-31T17:00:00.000Z')
  assert.equal(prev('0 0 12 1 1 * 1970', { tz: 'Asia/Tokyo' }, '2150-01-01T00:00Z'), '1970-01-01T03:00:00.000Z')
  assert.equal(cron('0 0 * * *', NEW_YORK).next(ZONE_END), null)
  assert.equal(cron('0 0 * * *', NEW_YORK).prev(ZONE_START), null)
})

test('what has no instant left because its zone skips them all never fires', () => {
  assert.equal(cron('0 0 12 30 12 * 2011', { tz: 'Pacific/Apia' }).never, true)
  assert.equal(cron('0 30 2 14 3 * 2027', { ...NEW_YORK, gap: 'skip' }).never, true)
  assert.equal(cron('0 30 2 14 3 * 2027', NEW_YORK).never, false)
  assert.equal(cron('0 0 30 2 *', NEW_YORK).never, true)
})

test('a shift of a day or more is a move of the date line, not a gap or an overlap', () => {
  assert.deepEqual([1, DAY - 1, DAY, DAY + 1, 0, -1].map(skipsTimes), [true, true, false, false, false, false])
  assert.deepEqual([-1, 1 - DAY, -DAY, -DAY - 1, 0, 1].map(repeatsTimes), [true, true, false, false, false, false])
})
