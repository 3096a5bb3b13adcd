import assert from 'node:assert/strict'
import test from 'node:test'
import {
  DAY_COUNT,
  MONTH_COUNT,
  monthFirstDay,
  monthFirstWeekday,
  monthIndexOf,
  monthLength,
  monthOfYear,
} from '../../src/trigger/calendar.ts'

test('the calendar agrees with Date on every day from 1970 to 2199', () => {
  for (let day = 0; day < DAY_COUNT; day++) {
    const date = new Date(day * 86_400_000)
    const index = monthIndexOf(day)
    const ours = [index, monthOfYear[index], day - monthFirstDay[index]! + 1]
    const theirs = [(date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth(), date.getUTCMonth(), date.getUTCDate()]
    assert.deepEqual(ours, theirs)
  }
  assert.equal(DAY_COUNT * 86_400_000, Date.UTC(2200, 0, 1))
})

test('every month begins on its weekday and has its length', () => {
  for (let index = 0; index < MONTH_COUNT; index++) {
    const year = 1970 + Math.floor(index / 12)
    assert.equal(monthFirstWeekday[index], new Date(Date.UTC(year, index % 12, 1)).getUTCDay())
    assert.equal(monthLength(index), new Date(Date.UTC(year, (index % 12) + 1, 0)).getUTCDate())
  }
})
