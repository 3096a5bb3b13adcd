import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { testKit } from 'cronce/testing'
import { compileFixture, until, writeProgram } from './kit.ts'

/** Decorated methods in virtual time, with the Nest that programs in this folder import. */
export function judgeJobs(folder: string): void {
  test('decorated methods of providers and controllers are jobs of the fleet, in every scope', async () => {
    const fixture = writeProgram(folder, 'jobs.js', compileFixture('jobs'))
    const { PerRun, Reports, ran, start } = (await import(
      pathToFileURL(fixture).href
    )) as typeof import('./fixtures/jobs.ts')
    const kit = testKit({ now: '2027-01-01T02:05:00Z' })
    const options = { store: kit.store, deployment: 'one', signals: false }
    const { context, app } = await start(options)
    // A replica: each fire runs in one of the two.
    const replica = await start(options)
    await until('@Timeout has triggered its job', async () => {
      await kit.advance(0)
      return ran.includes('warm-up')
    })
    await kit.advanceTo('2027-01-01T03:59:00Z')
    await kit.advanceTo('2027-01-01T14:05:00Z')

    const { token, app: injected } = context.get(Reports)
    assert.ok(token === app && injected === app, 'the app is injected by its class and by the decorator')
    const early = ran.filter((line) => !/T(?:0[4-9]|1\d):/.test(line))
    assert.deepEqual(early.toSorted(), [
      'half-hourly 2027-01-01T02:30:00.000Z',
      'half-hourly 2027-01-01T03:00:00.000Z',
      'half-hourly 2027-01-01T03:30:00.000Z',
      'hourly 2027-01-01T03:00:00.000Z',
      'invoices 8',
      'left as Left.inherited 2027-01-01T03:45:00.000Z',
      ...Array.from({ length: 12 }, () => 'per-run true'),
      'right as Right.inherited 2027-01-01T03:45:00.000Z',
      'traced',
      'transient true',
      'warm-up',
      'wrapped',
    ])
    assert.equal(PerRun.made, 12, 'a request-scoped provider is made for each run')
    assert.ok(ran.includes('Reports.unnamed 2027-01-01T14:00:00.000Z'), 'half past twelve, 90 minutes behind UTC')
    const schedules: string[] = []
    for await (const { name } of app.schedules.all()) schedules.push(name)
    assert.deepEqual(schedules, [
      'Left.inherited',
      'Reports.halfHourly',
      'Reports.unnamed',
      'Right.inherited',
      'hourly',
      'invoices',
      'per-run',
      'transient',
      'warm-up',
      'wrapped',
    ])
    assert.equal((await app.schedules.get('hourly')).policy.retry.attempts, 2, 'options of cronce')
    await Promise.all([context.close(), replica.context.close()])
  })
}
