import assert from 'node:assert/strict'
import test from 'node:test'
import { parseDuration } from '../src/duration.ts'

test('a duration is a number with a unit, several of them, or milliseconds', () => {
  const cases: [string | number, number][] = [
    ['500ms', 500],
    ['90s', 90_000],
    ['15m', 900_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['1.1s', 1_100],
    ['2d', 172_800_000],
    ['1w', 604_800_000],
    ['1m500ms', 60_500],
    [250, 250],
  ]
  for (const [text, ms] of cases) assert.equal(parseDuration(text), ms, String(text))
})

test('a blank may stand before a number and its unit, as the type allows', () => {
  assert.equal(parseDuration('30 s'), 30_000)
  assert.equal(parseDuration('1h 30m'), 5_400_000)
  assert.equal(parseDuration('1 h 30 m'), 5_400_000)
})

test('what is not a duration is null: no unit, a sign, nothing, a fraction of a millisecond, more than a hundred years', () => {
  const bad = [
    '',
    '15',
    'm',
    '-5m',
    '+5m',
    '5  m',
    '5m ',
    '5M',
    '5x',
    '1.0001ms',
    '0s',
    '99999w',
    '5m '.repeat(99),
    '1e3s',
    '0x5s',
  ]
  for (const text of bad) assert.equal(parseDuration(text), null, text)
  for (const ms of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e15])
    assert.equal(parseDuration(ms), null, String(ms))
  for (const value of [null, undefined, {}, []]) assert.equal(parseDuration(value as unknown as string), null)
})
