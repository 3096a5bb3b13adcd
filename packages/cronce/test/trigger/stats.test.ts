import assert from 'node:assert/strict'
import test from 'node:test'
import { at, cron, every, stats, type ZoneEffect } from '../../src/cron.ts'

const FROM = Date.parse('2027-01-01T00:00:00Z')
const TO = Date.parse('2028-01-01T00:00:00Z')
const HOUR = 3_600_000

function changesOf(expression: string, options: Parameters<typeof cron>[1]): readonly ZoneEffect[] {
  return stats(cron(expression, options), { from: FROM, to: TO }).changes
}

function summary({ effect, count, fires }: ZoneEffect): unknown[] {
  return [
    effect,
    count,
    fires.map((fire) => [fire.local, ...fire.at.map((ms) => new Date(ms).toISOString().slice(11, 16))]),
  ]
}

test('frequency and the smallest gap are counted over the range', () => {
  const daily = stats(cron('0 3 * * *'), { from: FROM, to: TO })
  assert.deepEqual([daily.fires, daily.exact, daily.perDay, daily.smallestGapMs], [365, true, 1, 24 * HOUR])
  assert.equal(stats(cron('0 3,4 * * *'), { from: FROM }).smallestGapMs, HOUR)
  assert.equal(stats(cron('*/45 * * * *'), { from: FROM }).smallestGapMs, 15 * 60_000)
  assert.equal(stats(every('90m'), { from: FROM }).smallestGapMs, 1.5 * HOUR)
})

test('a range begins after its start and ends with its end', () => {
  const day = stats(cron('0 0 * * *'), { from: FROM, to: FROM + 24 * HOUR })
  assert.deepEqual([day.fires, day.exact], [1, true])
  const spring = Date.parse('2027-03-28T01:00:00Z')
  const changesIn = (from: number, to: number) =>
    stats(cron('30 1 * * *', { tz: 'Europe/London' }), { from, to }).changes.length
  assert.deepEqual([changesIn(FROM, spring), changesIn(FROM, spring - 1)], [1, 0])
  assert.deepEqual([changesIn(spring - 1, TO), changesIn(spring, TO), changesIn(spring + 1, TO)], [2, 1, 1])
  assert.equal(stats(cron('0 0 * * *'), { from: 8.64e15 }).fires, 0)
})

test('what never fires, or once, has no gap', () => {
  assert.deepEqual(stats(cron('0 0 30 2 *'), { from: FROM }).fires, 0)
  const once = stats(at(FROM + 1), { from: FROM })
  assert.deepEqual([once.fires, once.smallestGapMs, once.changes], [1, null, []])
})

test('more than a million fires are estimated, and marked as an estimate', () => {
  const secondly = stats(cron('* * * * * *'), { from: FROM, to: TO })
  assert.deepEqual([secondly.fires, secondly.exact, secondly.smallestGapMs], [365 * 86_400, false, 1_000])
  // Half of the range has none of them, so the first part does not predict the rest.
  const june = stats(cron('* * * * 6 *'), { from: FROM, to: TO })
  assert.deepEqual([june.fires, june.exact], [30 * 86_400, false])
  const fortnight = stats(cron('* * * * * *'), { from: Date.UTC(2027, 0, 5), to: Date.UTC(2027, 0, 20) })
  assert.deepEqual([fortnight.fires, fortnight.exact], [15 * 86_400, false])
  const odd = stats(cron('* * * * * *', { tz: '+05:30' }), {
    from: Date.UTC(2027, 0, 1, 12),
    to: Date.UTC(2027, 0, 13, 6),
  })
  assert.equal(odd.fires, 1_015_200)
  assert.equal(stats(every('1ms'), { from: FROM, to: FROM + 2_000_000 }).fires, 2_000_000)
})

test('a fixed time in the gap moves to its end, and the repeated hour does nothing to it', () => {
  const [spring, autumn] = changesOf('30 2 * * *', { tz: 'America/New_York' })
  assert.deepEqual(summary(spring!), ['moved', 1, [['2027-03-14T02:30:00', '07:00']]])
  assert.deepEqual(summary(autumn!), ['none', 0, []])
  assert.deepEqual([spring!.offsetBeforeMs, spring!.offsetAfterMs], [-5 * HOUR, -4 * HOUR])
  assert.deepEqual(summary(changesOf('30 1 * * *', { tz: 'America/New_York' })[1]!), ['none', 0, []])
})

test('an interval drops the times that do not exist and repeats those that exist twice', () => {
  const [spring, autumn] = changesOf('*/30 1-2 * * *', { tz: 'America/New_York' })
  assert.deepEqual(summary(spring!), ['dropped', 2, [['2027-03-14T02:00:00'], ['2027-03-14T02:30:00']]])
  const repeated = [
    ['2027-11-07T01:00:00', '05:00', '06:00'],
    ['2027-11-07T01:30:00', '05:30', '06:30'],
  ]
  assert.deepEqual(summary(autumn!), ['repeated', 2, repeated])
})

test('shift moves each skipped time by the gap', () => {
  const [spring] = changesOf('0,30 2 * * *', { tz: 'America/New_York', dst: 'shift' })
  const moved = [
    ['2027-03-14T02:00:00', '07:00'],
    ['2027-03-14T02:30:00', '07:30'],
  ]
  assert.deepEqual(summary(spring!), ['moved', 2, moved])
})

test('every change of the zone is listed, and only the first twenty fires of each', () => {
  const [spring, ...rest] = changesOf('* 2 * * *', { tz: 'America/New_York' })
  assert.deepEqual([spring!.count, spring!.fires.length, rest.length], [60, 20, 1])
  assert.equal(changesOf('0 0 * * *', { tz: 'UTC' }).length, 0)
})

test('a skipped date drops what it would have had', () => {
  const { changes } = stats(cron('0 12 * * *', { tz: 'Pacific/Apia' }), {
    from: Date.parse('2011-12-01T00:00:00Z'),
    to: Date.parse('2012-01-31T00:00:00Z'),
  })
  assert.deepEqual(changes.map(summary), [['dropped', 1, [['2011-12-30T12:00:00']]]])
})
