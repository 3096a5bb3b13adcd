import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cronce, CronceOptions } from 'cronce'
import { type TestKit, testKit } from 'cronce/testing'
import { checkSchedules } from '../src/doctor/check-schedules.ts'
import type { Facts } from '../src/doctor/facts.ts'
import { gatherFleet } from '../src/doctor/gather-fleet.ts'

type Declare = (app: Cronce<never>, kit: TestKit) => unknown

/** A process that runs in virtual time, and what doctor finds wrong there. */
async function started(declare: Declare, options: Partial<CronceOptions<never>> = {}) {
  const kit = testKit()
  const start = async (): Promise<Cronce<never>> => {
    const app = kit.app({ app: 'shop', ...(options as object) }) as unknown as Cronce<never>
    declare(app, kit)
    await app.start()
    return app
  }
  const app = await start()
  const found = async (client = app): Promise<string[]> => {
    const fleet = await gatherFleet(client, () => {})
    const facts = { fleet } as unknown as Facts
    return checkSchedules(facts).flatMap(({ check, level, message }) =>
      level === 'warn' || level === 'fail' ? [`${check}: ${message}`] : [],
    )
  }
  return { kit, app, start, found }
}

describe('doctor judges by the rules of the watchdog', () => {
  test('failing, by what the job has set for it', async () => {
    const { kit, app, found } = await started((made) =>
      made.job('report', { cron: '* * * * *', timeout: '1m', watch: { failing: 5 } }, () => {
        throw new Error('no')
      }),
    )
    await kit.advance('3m30s')
    assert.deepEqual(await found(), [])
    await kit.advance('2m')
    assert.deepEqual(await found(), [
      'failing: 1 schedule has failed several times in a row, or was paused by pauseAfter: report (6).',
    ])
    await app.stop()
  })

  test('failing, by what the app has set for it', async () => {
    const declare: Declare = (made) =>
      made.job('report', { cron: '* * * * *', timeout: '1m' }, () => {
        throw new Error('no')
      })
    const off = await started(declare, { watch: { failing: false } })
    await off.kit.advance('9m30s')
    assert.deepEqual(await off.found(), [])
    const soon = await started(declare, { watch: { failing: 1 } })
    await soon.kit.advance('30s')
    assert.match((await soon.found()).join(), /^failing: .*report \(1\)/)
    await off.app.stop()
    await soon.app.stop()
  })

  test('no success for longer than allowed; not of a job whose time has not come', async () => {
    const { kit, app, found } = await started((made) => {
      made.job('import', { timeout: '1m', watch: { silent: { maxAge: '26h' } } }, () => {})
      made.job('monthly', { cron: '0 0 15 * *', timeout: '1m' }, () => {})
    })
    await kit.advance('25h')
    assert.deepEqual(await found(), [])
    await kit.advance('5h')
    assert.match(
      (await found()).join(),
      /^no-success: 1 schedule .*: import \(no success for 30 h, allowed are 26 h\)\.$/,
    )
    await app.stop()
  })

  test('slow, until a run is as long as usual', async () => {
    let tookMs = 0
    const { kit, app, found } = await started((made, { clock }) =>
      made.job('report', { cron: '*/10 * * * *', timeout: '1h' }, () => clock.sleep(tookMs)),
    )
    await kit.advance('2h5m')
    assert.deepEqual(await found(), [])
    tookMs = 240_000
    await kit.advance('10m')
    assert.match((await found()).join(), /^slow: .*report \(its last run took 4 min, far longer than usual\)\.$/)
    tookMs = 0
    await kit.advance('10m')
    assert.deepEqual(await found(), [])
    await app.stop()
  })

  test('missed in an outage, until a later due time succeeds', async () => {
    const { kit, app, start, found } = await started((made) =>
      made.job('report', { cron: '0 * * * *', timeout: '1m', misfire: 'skip' }, () => {}),
    )
    await kit.advance('90m')
    await app.stop()
    await kit.advance('3h')
    const again = await start()
    await kit.advance('5m')
    assert.match(
      (await found(again)).join(),
      /,missed: .*report \(\d due times were missed in an outage of up to .*\)\.$/,
    )
    await kit.advance('1h')
    assert.deepEqual(await found(again), [])
    await again.stop()
  })

  test('work that was executed twice, until it is executed once', async () => {
    const { kit, app, found } = await started(() => {})
    const execute = () => app.detect('mail', { window: '10m' }, () => {})
    await execute()
    assert.deepEqual(await found(), [])
    await execute()
    assert.match((await found()).join(), /^duplicates: A second scheduler does the same work: mail \(executed again/)
    await kit.advance('1h')
    await execute()
    assert.deepEqual(await found(), [])
    await app.stop()
  })

  test('work that was executed twice in one millisecond, in whichever order the two are on record', async () => {
    const { app } = await started(() => {})
    for (let name = 0; name < 12; name++) {
      for (let time = 0; time < 2; time++) await app.detect(`mail-${name}`, { window: '10m' }, () => {})
    }
    const { internal } = await gatherFleet(app, () => {})
    assert.equal(internal.filter(({ rule }) => rule === 'duplicate').length, 12)
    await app.stop()
  })

  test('a job that no process has, and a run that hangs', async () => {
    const { kit, app, found } = await started((made) => made.job('report', {}, () => new Promise<void>(() => {})))
    await app.schedules.create('lost', { job: 'gone', cron: '0 0 * * *', timeout: '1m' })
    await app.schedules.create('hangs', { job: 'report', at: new Date(kit.now() + 60_000) })
    await kit.advance('3h')
    const all = await found()
    assert.match(all.join(), /orphans: 1 active schedule has a job that no live instance can run: lost/)
    assert.match(all.join(), /stuck: 1 schedule has a run that is open .* the oldest for 2h59m: hangs \d+/)
    assert.equal(all.length, 2)
  })
})
