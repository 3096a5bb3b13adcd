import assert from 'node:assert/strict'
import test from 'node:test'
import { cron } from '../../src/cron.ts'
import { Recent } from '../../src/trigger/recent.ts'

test('what was added is remembered, and memory is bounded', () => {
  const recent = new Recent<number>(10)
  for (let i = 0; i < 1_000; i++) {
    recent.add(`key ${i}`, i)
    assert.equal(recent.get(`key ${i}`), i)
    const kept = Array.from({ length: i + 1 }, (_, j) => recent.get(`key ${j}`)).filter((value) => value !== undefined)
    assert.ok(kept.length >= 1 && kept.length <= 10, `${kept.length} kept`)
  }
})

test('equal expressions with equal options share one trigger; a different option is a different one', () => {
  assert.equal(cron('0 3 * * *'), cron('0 3 * * *'))
  assert.equal(cron('0 3 * * *', { tz: 'Asia/Tokyo' }), cron('0 3 * * *', { tz: 'Asia/Tokyo' }))
  assert.notEqual(cron('0 3 * * *', { tz: 'Asia/Tokyo' }), cron('0 3 * * *', { tz: 'Asia/Seoul' }))
  assert.notEqual(cron('0 3 * * *'), cron('0 3 * * *', { gap: 'skip' }))
  // A text that contains what separates the parts of a key is not mistaken for another pair.
  assert.throws(() => cron('0 3 * * *\ntz\rAsia/Tokyo'), { code: 'CHARACTER_UNEXPECTED' })
  assert.throws(() => cron('0 3 * * *', { seed: 5 as unknown as string }), { code: 'OPTION_INVALID' })
})

test('an option of the wrong type is refused also when its text was accepted before', () => {
  cron('0 3 * * *', { wrap: true, seed: '5' })
  assert.throws(() => cron('0 3 * * *', { wrap: 'true' as unknown as boolean, seed: '5' }), { code: 'OPTION_INVALID' })
  assert.throws(() => cron('0 3 * * *', { wrap: true, seed: 5 as unknown as string }), { code: 'OPTION_INVALID' })
})

test('changing the options object afterwards changes nothing', () => {
  const options = { tz: 'Asia/Tokyo', gap: 'skip' as 'skip' | 'after' }
  const trigger = cron('0 4 * * *', options)
  options.tz = 'UTC'
  options.gap = 'after'
  assert.deepEqual(trigger.toJSON(), { kind: 'cron', expression: '0 4 * * *', tz: 'Asia/Tokyo', gap: 'skip' })
})
