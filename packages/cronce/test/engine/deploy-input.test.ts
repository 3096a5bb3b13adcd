import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StandardSchema } from '../../src/client/standard-schema.ts'
import { CronceError } from '../../src/errors.ts'
import type { Guarantee } from '../../src/model/policy.ts'
import { createFleet, type Declare, type Fleet } from './fleet.ts'

/** Accepts values of this type. */
function schemaOf(type: 'string' | 'number'): StandardSchema {
  const validate = (value: unknown) =>
    typeof value === type ? { value } : { issues: [{ message: `expected a ${type}` }] }
  return { '~standard': { version: 1, vendor: 'test', validate } }
}

const MINUTELY = { cron: '* * * * *' }

const texts =
  (guarantee: Guarantee): Declare =>
  (app) =>
    app.job('bill', { ...MINUTELY, guarantee, schema: schemaOf('string'), input: 'all' }, () => {})

/** The new release: a number as input, and a long job that can take its only place. */
const numbers =
  (guarantee: Guarantee): Declare =>
  (app, { clock }) => {
    app.job('bill', { ...MINUTELY, guarantee, schema: schemaOf('number'), input: 7 }, () => {})
    app.job('long', {}, () => clock.sleep(20_000))
  }

async function reasonsOf(fleet: Fleet): Promise<(string | null)[]> {
  const { items } = await fleet.operator.fires.list({ schedule: 'bill' })
  return items.map(({ reason }) => reason)
}

for (const guarantee of ['at-least-once', 'at-most-once'] as const) {
  test(`${guarantee}: input that an older deployment finds invalid waits for the newer one, which is busy`, async () => {
    const fleet = await createFleet()
    await fleet.add(texts(guarantee), { deployment: 'v1' })
    await fleet.advance('30s')
    await fleet.add(numbers(guarantee), { deployment: 'v2', concurrency: 1 })
    await fleet.advance('25s')
    await fleet.operator.schedules.trigger('long')
    await fleet.advance('1m')
    assert.deepEqual(await reasonsOf(fleet), ['completed', 'completed'])
    const [, late] = fleet.handled.filter(({ schedule }) => schedule === 'bill')
    assert.equal(late?.member.name, 'm2')
    const { items } = await fleet.operator.runs.list({ schedule: 'bill' })
    const handedBack = items.filter(({ reason }) => reason === 'handed-back')
    assert.ok(handedBack.length > 0 && handedBack.length < 10, `${handedBack.length} runs were handed back`)
    fleet.end()
  })
}

test('a handler that was called and throws INPUT_INVALID itself has failed: its fire is not handed back', async () => {
  const fleet = await createFleet()
  const declare: Declare = (app, { clock }) => {
    app.job('bill', '* * * * *', () => {
      throw new CronceError('INPUT_INVALID', 'The handler triggered another job with the wrong input.')
    })
    app.job('long', {}, () => clock.sleep(20_000))
  }
  await fleet.add(declare, { deployment: 'v1' })
  await fleet.advance('30s')
  await fleet.add(declare, { deployment: 'v2', concurrency: 1 })
  await fleet.advance('25s')
  await fleet.operator.schedules.trigger('long')
  await fleet.advance('30s')
  const called = fleet.handled.filter(({ schedule }) => schedule === 'bill')
  assert.deepEqual(
    called.map(({ member }) => member.name),
    ['m1', 'm1'],
  )
  fleet.end()
})

test('input that is invalid fails its fire when no instance of a newer deployment lives', async () => {
  const fleet = await createFleet()
  await fleet.add(texts('at-least-once'), { deployment: 'v1' })
  await fleet.advance('30s')
  const newer = await fleet.add(numbers('at-least-once'), { deployment: 'v2' })
  await fleet.advance('20s')
  await fleet.world.until(newer.app.stop())
  await fleet.advance('30s')
  assert.deepEqual(await reasonsOf(fleet), ['input-invalid', 'completed'])
  fleet.end()
})
