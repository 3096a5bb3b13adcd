import assert from 'node:assert/strict'
import test from 'node:test'
import { type CronOptions, cron } from '../../src/cron.ts'
import { CompiledCron } from '../../src/trigger/cron-trigger.ts'

const NIGHTLY = '0 3 * * *'

test('equal expressions with equal options share one trigger; a different option is a different one', () => {
  assert.equal(cron(NIGHTLY), cron(NIGHTLY))
  assert.equal(cron(NIGHTLY), cron(NIGHTLY, { tz: 'UTC' }))
  assert.equal(cron(NIGHTLY), cron(NIGHTLY, {}))
  assert.equal(cron(NIGHTLY, { tz: 'Asia/Tokyo' }), cron(NIGHTLY, { tz: 'Asia/Tokyo', gap: undefined }))
  assert.equal(cron(NIGHTLY, { gap: 'skip' }), cron(NIGHTLY, { gap: 'skip' }))
  assert.notEqual(cron(NIGHTLY, { tz: 'Asia/Tokyo' }), cron(NIGHTLY, { tz: 'Asia/Seoul' }))
  assert.notEqual(cron(NIGHTLY), cron(NIGHTLY, { gap: 'skip' }))
  assert.notEqual(cron(NIGHTLY, { gap: 'skip' }), cron(NIGHTLY, { overlap: 'both' }))
})

test('an expression that is shared cannot be changed by one of its users', () => {
  const monthly = cron('0 0 L * *')
  assert.throws(() => Object.assign(monthly, { hours: 1 }), TypeError)
  assert.equal(monthly.kind, 'cron')
  const specials = (monthly.kind === 'cron' ? monthly.fields.days.specials : []) as { kind: string; before?: number }[]
  assert.throws(() => specials.pop(), TypeError)
  assert.throws(() => Object.assign(specials[0]!, { before: 5 }), TypeError)
  assert.throws(() => Object.assign(cron('@every 15m'), { everyMs: 1 }), TypeError)
  const paris = cron(NIGHTLY, { tz: 'Europe/Paris' })
  assert.ok(paris instanceof CompiledCron)
  assert.throws(() => Object.assign(paris.zone, { id: 'Mars' }), TypeError)
  assert.throws(() => Object.assign(paris.zone.at(0), { offset: 0 }), TypeError)
  const yearly = cron('0 0 0 1 1 * 2030')
  assert.ok(yearly instanceof CompiledCron)
  assert.throws(() => Object.assign(yearly.rare!, { years: null }), TypeError)
})

test('a property that was added to all objects is not an option', () => {
  Object.defineProperty(Object.prototype, 'polluted', { value: 1, enumerable: true, configurable: true })
  try {
    assert.equal(cron('6 3 * * *', { tz: 'Asia/Tokyo' }).kind, 'cron')
  } finally {
    Reflect.deleteProperty(Object.prototype, 'polluted')
  }
})

test('no more than some thousand triggers are remembered, in all zones together', () => {
  const first = cron('7 3 * * *', { tz: 'Asia/Seoul' })
  assert.equal(cron('7 3 * * *', { tz: 'Asia/Seoul' }), first)
  for (let i = 0; i < 20_000; i++) cron(`${i % 60} ${Math.floor(i / 60) % 24} ${1 + (Math.floor(i / 1440) % 28)} * *`)
  assert.notEqual(cron('7 3 * * *', { tz: 'Asia/Seoul' }), first)
})

test('what was accepted before does not make something else acceptable', () => {
  cron(NIGHTLY, { dst: 'wall' })
  cron(NIGHTLY, {})
  cron('0 22-2 * * *', { wrap: true })
  const refused: [expression: string, options: unknown, code: string][] = [
    ['dst=4:wall;0 3 * * *', {}, 'NAME_UNKNOWN'],
    ['0 3 * * *\ntz\rAsia/Tokyo', undefined, 'CHARACTER_UNEXPECTED'],
    ['0 22-2 * * *', { wrap: false }, 'RANGE_BACKWARD'],
    [NIGHTLY, { dst: 'Wall' }, 'OPTION_INVALID'],
    [NIGHTLY, { wrap: 'true' }, 'OPTION_INVALID'],
    [NIGHTLY, { seed: 5 }, 'OPTION_INVALID'],
    [NIGHTLY, { seed: 'x'.repeat(2_000) }, 'OPTION_INVALID'],
    [NIGHTLY, { gap: null }, 'OPTION_INVALID'],
    [NIGHTLY, { tz: null }, 'OPTION_INVALID'],
    [NIGHTLY, null, 'OPTION_INVALID'],
    [NIGHTLY, [], 'OPTION_INVALID'],
    [NIGHTLY, Object.assign([], { tz: 'UTC' }), 'OPTION_INVALID'],
    [NIGHTLY, 'UTC', 'OPTION_INVALID'],
    [NIGHTLY, { tz: 'undefined' }, 'ZONE_UNKNOWN'],
    [NIGHTLY, { dst: 'wall', tz: 'undefined' }, 'ZONE_UNKNOWN'],
    [NIGHTLY, { dst: 'wall', tz: null }, 'OPTION_INVALID'],
    [NIGHTLY, new Map([['tz', 'UTC']]), 'OPTION_INVALID'],
    [NIGHTLY, new Date(0), 'OPTION_INVALID'],
    [NIGHTLY, Object.create({ dst: 'bogus' }), 'OPTION_INVALID'],
    [NIGHTLY, Object.create({ dialect: 'bogus' }), 'OPTION_INVALID'],
    [NIGHTLY, { zone: 'UTC' }, 'OPTION_UNKNOWN'],
  ]
  for (const [expression, options, code] of refused) {
    const what = `${expression} ${String(JSON.stringify(options)).slice(0, 80)}`
    assert.throws(() => cron(expression, options as CronOptions), { name: 'CronError', code }, what)
  }
})

test('options count wherever an object has them from, and are kept when it is stored', () => {
  class Defaults {
    get gap(): 'skip' {
      return 'skip'
    }
  }
  const stored = { kind: 'cron', expression: '4 3 * * *', tz: 'UTC', gap: 'skip' }
  assert.deepEqual(cron('4 3 * * *', new Defaults()).toJSON(), stored)
  assert.deepEqual(cron('4 3 * * *', Object.create({ gap: 'skip' }) as CronOptions).toJSON(), stored)
  assert.deepEqual(cron('4 3 * * *', {}).toJSON(), { kind: 'cron', expression: '4 3 * * *', tz: 'UTC' })
})

test('an option that changes its mind is asked once', () => {
  let asked = 0
  const fickle = {
    get gap(): 'skip' | 'after' {
      return asked++ === 0 ? 'skip' : 'after'
    },
  }
  assert.deepEqual(cron('5 3 * * *', fickle).toJSON(), {
    kind: 'cron',
    expression: '5 3 * * *',
    tz: 'UTC',
    gap: 'skip',
  })
  assert.equal(asked, 1)
})

test('changing the options object afterwards changes nothing', () => {
  const options = { tz: 'Asia/Tokyo', gap: 'skip' as 'skip' | 'after' }
  const trigger = cron('0 4 * * *', options)
  options.tz = 'UTC'
  options.gap = 'after'
  assert.deepEqual(trigger.toJSON(), { kind: 'cron', expression: '0 4 * * *', tz: 'Asia/Tokyo', gap: 'skip' })
})

test('a year field that names every year restricts nothing', () => {
  const trigger = cron('0 0 3 * * * *')
  assert.equal(trigger.kind === 'cron' && trigger.normalized, NIGHTLY)
  assert.equal(trigger.kind === 'cron' && trigger.fields.years, null)
})
