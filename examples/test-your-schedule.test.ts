/** What happens next Monday, in a few milliseconds: `node --test examples/test-your-schedule.test.ts`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cronce, type CronceOptions, cronce } from 'cronce'
import { testKit } from 'cronce/testing'

/** As an application would have it: the store is handed in, and nothing in here knows of tests. */
function shop(store: CronceOptions['store'], send: (day: string) => void): Cronce {
  const app = cronce({ store, logger: false })
  app.job('newsletter', { cron: '0 9 * * MON', tz: 'Europe/London', retry: 1 }, (run) => {
    send(new Date(run.fire.dueAt).toISOString())
  })
  return app
}

test('the newsletter goes out on Mondays at nine in London, summer or winter', async () => {
  const kit = testKit({ now: '2027-03-19T12:00:00Z' }) // a Friday; London changes its clocks on the 28th
  const sent: string[] = []
  const app = shop(kit.store, (day) => sent.push(day))

  await app.start()
  await kit.advanceTo('2027-03-30T00:00:00Z')
  await app.stop()

  assert.deepEqual(sent, ['2027-03-22T09:00:00.000Z', '2027-03-29T08:00:00.000Z'])
})

test('a failed run is retried once', async () => {
  const kit = testKit({ now: '2027-03-22T08:59:00Z' })
  let tries = 0
  const app = shop(kit.store, () => {
    if (++tries === 1) throw new Error('the mail server is down')
  })

  await app.start()
  await kit.advance('10m')
  const { items } = await app.fires.list({ schedule: 'newsletter' })
  await app.stop()

  assert.deepEqual(
    items.map(({ state, attempt }) => [state, attempt]),
    [['succeeded', 2]],
  )
})

test('two instances send it once', async () => {
  const kit = testKit({ now: '2027-03-19T12:00:00Z' })
  const sent: string[] = []
  const apps = [1, 2].map(() => shop(kit.store, (day) => sent.push(day)))

  for (const app of apps) await app.start()
  await kit.advance('7d')
  for (const app of apps) await app.stop()

  assert.deepEqual(sent, ['2027-03-22T09:00:00.000Z'])
})
