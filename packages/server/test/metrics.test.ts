import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { connect, cronce, type ScheduleView } from 'cronce'
import { memory } from 'cronce/memory'
import { obtain } from '../../../scripts/servers/index.ts'
import { sumOf, valuesIn } from '../../cronce/test/metrics/read-text.ts'
import { createHandler } from '../src/index.ts'
import { overdueAt } from '../src/metrics/overdue.ts'
import { apiOf, ask, codeOf, eventually } from './kit.ts'

async function demandValid(text: string): Promise<void> {
  const { stdout, stderr, status } = spawnSync(await obtain('promtool'), ['check', 'metrics'], { input: text })
  assert.equal(status, 0, `${stdout}${stderr}`)
}

test('/metrics is what this process has counted, as Prometheus reads it', async (context) => {
  const { app, ask } = apiOf(context)
  app.job('bill', {}, () => {})
  await app.start()
  await app.schedules.trigger('bill')
  const text = await eventually(async () => {
    const { body, headers } = await ask('GET', '/metrics')
    assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    assert.equal(headers.get('cache-control'), 'no-store')
    return sumOf(body, 'cronce_fires_total', 'job_name="bill"', 'outcome="succeeded"') === 1 && body
  })
  await demandValid(text)
  assert.equal((await ask('HEAD', '/metrics')).status, 200)
  assert.equal(codeOf(await ask('GET', '/metrics?scope=fleet')), '400 OPTION_UNKNOWN')
})

test('/metrics/fleet has what the store knows, for an app and for a connection', async (context) => {
  const store = memory()
  const { app, handler } = apiOf(context, {}, store)
  app.job('bill', { every: '1h' }, () => {})
  app.job('held', {}, ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)))
  await app.start()
  await app.schedules.create('bill of a tenant', { job: 'bill', every: '2h', tenant: 't' })
  await app.schedules.pause('bill of a tenant')
  await app.schedules.create('orphan', { job: 'nobody has it', every: '1h' })
  await app.schedules.trigger('bill')
  await app.schedules.trigger('held')
  await eventually(async () => (await app.schedules.get('bill')).last.succeededAt !== null)
  await eventually(async () => (await app.runs.list({ job: 'held' })).items.length === 1)

  const client = await connect({ store, logger: false })
  context.after(() => client.close())
  const seen = createHandler(client, { access: () => 'read', logger: false })
  for (const one of [handler, seen]) {
    const { body } = await ask(one, 'GET', '/metrics/fleet')
    await demandValid(body)
    const values = valuesIn(body)
    assert.equal(values.get('cronce_schedules{job_name="bill",state="active"}'), 1)
    assert.equal(values.get('cronce_schedules{job_name="bill",state="paused"}'), 1)
    assert.equal(values.get('cronce_instances{state="live"}'), 1)
    assert.equal(values.get('cronce_instances{state="silent"}'), 0)
    assert.equal(values.get('cronce_fires_open{job_name="held",state="running"}'), 1)
    assert.equal(values.get('cronce_schedules_unserved{job_name="nobody has it"}'), 1)
    assert.equal(values.get('cronce_schedules_unserved{job_name="bill"}'), 0)
    assert.equal(values.get('cronce_schedules_overdue{job_name="bill"}'), 0)
    assert.equal(values.get('cronce_consecutive_failures{job_name="bill"}'), 0)
    assert.equal(values.get('cronce_fleet_truncated'), 0)
    const success = values.get('cronce_last_success_timestamp_seconds{job_name="bill"}')!
    assert.ok(Math.abs(success * 1_000 - Date.now()) < 600_000)
    assert.ok(values.get('cronce_next_fire_timestamp_seconds{job_name="bill"}')! > success)
    assert.ok(!body.includes('tenant'), 'neither a tenant nor a schedule is a label')
  }
  // The process of a connection runs nothing.
  assert.equal((await ask(seen, 'GET', '/metrics')).status, 200)
})

test('/metrics/fleet counts a job on all hosts and labels as one, and apps beyond the cap as one', async (context) => {
  const store = memory()
  const labels = { host: 'web-1', zone: 'a' }
  const app = cronce({ store, signals: false, logger: false, labels })
  context.after(() => app.stop())
  const seen = createHandler(app, { access: () => 'read', logger: false, metrics: { maxJobs: 2 } })
  app.job('clean', { every: '1h', hosts: 'each' }, () => {})
  app.job('mail@corp', { every: '1h' }, () => {})
  await app.start()
  await app.schedules.create('placed', { job: 'clean', every: '2h', on: { zone: 'a' } })
  const { body } = await ask(seen, 'GET', '/metrics/fleet')
  const values = valuesIn(body)
  assert.equal(values.get('cronce_schedules{job_name="clean",state="active"}'), 2)
  assert.equal(values.get('cronce_schedules_unserved{job_name="clean"}'), 0)
  assert.equal(values.get('cronce_schedules{job_name="mail@corp",state="active"}'), 1)
  assert.doesNotMatch(body, /web-1|zone/)
  const alert = { rule: 'failing', severity: 'critical', state: 'firing', count: 1 }
  const list = async () => ['a', 'b', 'c', 'd'].map((one) => ({ ...alert, app: one }))
  const source = Object.create(app, { alerts: { value: { ...app.alerts, list } } })
  const handler = createHandler(source, { access: () => 'read', logger: false, metrics: { maxJobs: 2 } })
  const alerts = valuesIn((await ask(handler, 'GET', '/metrics/fleet')).body)
  assert.equal(alerts.get('cronce_alerts{app="other",rule="failing",severity="critical"}'), 2)
})

test('scrapes of the fleet share one look at the store for a while', async (context) => {
  const { app } = apiOf(context)
  await app.start()
  let looks = 0
  const list: typeof app.schedules.list = async (options) => {
    looks++
    return app.schedules.list(options)
  }
  const source = Object.create(app, { schedules: { value: { ...app.schedules, list } } })
  const handler = createHandler(source, { access: () => 'read', logger: false })
  await Promise.all(Array.from({ length: 5 }, () => ask(handler, 'GET', '/metrics/fleet')))
  await ask(handler, 'GET', '/metrics/fleet')
  assert.equal(looks, 1)
})

test('metrics can be left out, and have a cap', async (context) => {
  const without = apiOf(context, { metrics: false })
  for (const path of ['/metrics', '/metrics/fleet']) {
    assert.equal(codeOf(await without.ask('GET', path)), '404 ROUTE_UNKNOWN')
  }
  const { app, ask } = apiOf(context, { metrics: { maxJobs: 1 } })
  for (const job of ['a', 'b', 'c']) await app.schedules.create(job, { job, every: '1h' })
  const { body } = await ask('GET', '/metrics/fleet')
  assert.equal(valuesIn(body).get('cronce_schedules{job_name="other",state="active"}'), 2)
  assert.throws(() => apiOf(context, { metrics: { maxJobs: 0 } }), { code: 'OPTION_INVALID' })
})

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A schedule that was created on Monday 2027-01-04. */
function weekdays(given: Partial<ScheduleView>): ScheduleView {
  const created = Date.UTC(2027, 0, 4)
  return {
    ...{ state: 'active', createdAt: created, updatedAt: created, retirements: [], endAt: null },
    ...{ retiredAt: null, last: { dueAt: null, succeededDueAt: null, succeededAt: null } },
    ...given,
  } as unknown as ScheduleView
}

test('a schedule is overdue half a period after the due time that follows its last success', async (context) => {
  const { app } = apiOf(context)
  const { trigger } = await app.schedules.create('w', { job: 'j', cron: '0 9 * * 1-5' })
  const succeeded = (at: number) => ({ trigger, last: { dueAt: at, succeededDueAt: at, succeededAt: at + 1 } })
  const [monday, friday] = [Date.UTC(2027, 0, 4, 9), Date.UTC(2027, 0, 8, 9)]
  assert.equal(overdueAt(weekdays(succeeded(monday))), monday + 1.5 * DAY)
  // No weekend is waited through: the period is the one between these two due times.
  assert.equal(overdueAt(weekdays(succeeded(friday))), friday + 4.5 * DAY)
  assert.equal(overdueAt(weekdays({ trigger })), monday + 0.5 * DAY, 'it never succeeded')
  const changed = { ...succeeded(monday), updatedAt: monday + 2 * DAY + HOUR }
  assert.equal(overdueAt(weekdays(changed)), monday + 3.5 * DAY, 'it was changed since')
  const back = { ...succeeded(monday), retirements: [{ from: monday, to: monday + 2 * DAY + HOUR }] } as never
  assert.equal(overdueAt(weekdays(back)), monday + 3.5 * DAY, 'it was retired meanwhile')
  for (const state of ['paused', 'retired', 'finished'] as const)
    assert.equal(overdueAt(weekdays({ trigger, state })), null)
  assert.equal(overdueAt(weekdays({ trigger: null })), null)
  const { trigger: often } = await app.schedules.create('o', { job: 'j', every: '1s' })
  const secondly = weekdays({ ...succeeded(monday), trigger: often })
  assert.equal(overdueAt(secondly), monday + 1_000 + 60_000, 'a minute at least')
})
