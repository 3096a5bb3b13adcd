import assert from 'node:assert/strict'
import test from 'node:test'
import { cron } from '../../src/cron.ts'
import { countLocal } from '../../src/trigger/cron-count.ts'
import { CompiledCron } from '../../src/trigger/cron-trigger.ts'

const DAY = 86_400_000
const FROM = Date.UTC(2027, 1, 27, 22, 59, 58)

function compiled(expression: string): CompiledCron {
  const trigger = cron(expression)
  assert.ok(trigger instanceof CompiledCron)
  return trigger
}

test('counting by the calendar gives what listing gives', () => {
  const expressions = [
    '* * * * *',
    '*/7 30-45 1-3,22,23 28,1 * *',
    '0 0 L * *',
    '5,50 */5 9-17 * 3 1-5',
    '0 3 * * 1#1',
    '0 0 29 2 *',
  ]
  const spans = [0, 1, 999, 1_000, 61_000, 3_600_000, DAY - 1_000, DAY, 3 * DAY + 7_000, 40 * DAY]
  for (const expression of expressions) {
    const trigger = compiled(expression)
    for (const start of [FROM, FROM + 1, FROM + 2_000, FROM + 3_602_000]) {
      const all = trigger.nextN(start - 1, 100_000)
      for (const span of spans) {
        const listed = all.filter((at) => at < start + span).length
        assert.equal(countLocal(trigger, start, start + span), listed, `${expression} ${start} ${span}`)
      }
    }
  }
})

test('nothing is counted outside of 1970 to 2199', () => {
  const daily = compiled('0 0 * * *')
  assert.equal(countLocal(daily, -8.64e15, 8.64e15), Date.UTC(2200, 0, 1) / DAY)
  assert.equal(countLocal(daily, -8.64e15, 0), 0)
  assert.equal(countLocal(daily, 5, 4), 0)
})
