import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { cronce } from '../../src/app/cronce.ts'
import { testKit } from '../../src/testing/test-kit.ts'

test('time passes for every app on the store, also for those that the kit did not make', async () => {
  const kit = testKit({ now: '2027-03-26T12:00:00Z' })
  const due: string[] = []
  const app = cronce({ store: kit.store, logger: false, signals: false })
  app.job('mondays', { cron: '0 9 * * MON', tz: 'Europe/London' }, (run) => {
    due.push(new Date(run.fire.dueAt).toISOString())
  })

  await app.start()
  await kit.advance('3w')
  await app.stop()

  assert.deepEqual(due, ['2027-03-29T08:00:00.000Z', '2027-04-05T08:00:00.000Z', '2027-04-12T08:00:00.000Z'])
  assert.equal(kit.events.filter(({ type }) => type === 'run.started').length, 3)
})

test('a handler that waits for something real has ended before time goes on', async () => {
  const kit = testKit()
  const ended: number[] = []
  const app = cronce({ store: kit.store, logger: false, signals: false })
  app.job('reads', { every: '1h' }, async () => {
    await readFile(import.meta.filename)
    ended.push(kit.now())
  })

  await app.start()
  await kit.advanceTo('2027-01-01T02:30:00Z')
  await app.stop()

  assert.deepEqual(
    ended.map((at) => new Date(at).toISOString().slice(11, 16)),
    ['00:00', '01:00', '02:00'],
  )
})

test('several apps are a fleet: each fire runs on one of them', async () => {
  const kit = testKit()
  const runs: number[] = []
  const apps = [1, 2, 3].map(() => kit.app().job('hourly', { every: '1h' }, (run) => runs.push(run.fire.dueAt)))

  for (const app of apps) await app.start()
  await kit.advance('1d')
  for (const app of apps) await app.stop()

  assert.equal(runs.length, 25)
  assert.equal(new Set(runs).size, 25)
})

test('time does not go back, and a duration must be one', async () => {
  const kit = testKit()

  await assert.rejects(() => kit.advanceTo('2026-12-31T00:00:00Z'), { code: 'INSTANT_PAST' })
  await assert.rejects(() => kit.advance('a while' as '1m'), { code: 'DURATION_INVALID' })
})
