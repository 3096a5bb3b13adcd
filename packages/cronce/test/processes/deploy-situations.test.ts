import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { describe, type TestContext, test } from 'node:test'
import { startPostgres } from '../../../../scripts/servers/index.ts'
import type { Connection } from '../../src/app/connect.ts'
import type { Duration } from '../../src/index.ts'
import { type Member, type Processes, startFleet, until } from './fleet.ts'
import type { Order, OrderedJob } from './order.ts'
import { startPostgresFleet } from './postgres-fleet.ts'

/** Short waits, so that what takes minutes in production takes seconds here. */
const SOON = { app: 'shop', lease: '5s', holdDown: '1s', retireAfter: '2s', drain: '1s' } as const

const every = (interval: Duration, more: Partial<Pick<OrderedJob, 'was' | 'does'>> = {}): OrderedJob => ({
  does: 'note',
  every: interval,
  ...more,
})

/** Processes of one app on one store. */
class Shop {
  readonly client: Connection<unknown>
  readonly #processes: Processes
  readonly #store: Pick<Order, 'postgres'>
  #count = 0

  constructor(processes: Processes, client: Connection<unknown>, store: Pick<Order, 'postgres'> = {}) {
    this.#processes = processes
    this.client = client
    this.#store = store
  }

  async start(deployment: string | null, jobs: Order['jobs'], more: Partial<Order> = {}): Promise<Member> {
    const id = deployment === null ? {} : { deployment }
    const member = this.#processes.start({
      ...{ name: `p${++this.#count}`, jobs, ...this.#store, ...more },
      options: { ...SOON, ...id, ...more.options },
    })
    await member.started
    return member
  }

  async stop(member: Member): Promise<void> {
    member.signal('SIGTERM')
    await member.ended
  }

  /** Until the schedule has started this many times more. */
  async fires(schedule: string, times: number): Promise<void> {
    const count = (): number => this.#processes.witnesses().filter((line) => line.schedule === schedule).length
    const before = count()
    await until(`${schedule} starts ${times} times`, () => count() >= before + 2 * times)
  }

  async everyMs(schedule: string): Promise<number | null> {
    const { trigger } = await this.client.schedules.get(schedule)
    return trigger?.kind === 'every' ? trigger.everyMs : null
  }

  async stateOf(schedule: string): Promise<string | null> {
    return (await this.client.schedules.find(schedule))?.state ?? null
  }

  /** Nothing was ever retired of it. */
  async neverRetired(schedule: string): Promise<void> {
    assert.deepEqual((await this.client.schedules.get(schedule)).retirements, [], schedule)
  }
}

async function onFile(context: TestContext): Promise<Shop> {
  const fleet = await startFleet(context)
  return new Shop(fleet, fleet.client as Connection<unknown>)
}

async function onPostgres(context: TestContext): Promise<Shop> {
  const server = await startPostgres()
  context.after(() => server.stop())
  const fleet = await startPostgresFleet(context, server)
  return new Shop(fleet, fleet.client as Connection<unknown>, { postgres: fleet.postgres })
}

// Side by side: each has a store of its own, and most of its time is spent waiting.
describe('a deploy with real processes', { concurrency: 4 }, () => {
  for (const [name, open] of [
    ['SQLite', onFile],
    ['PostgreSQL', onPostgres],
  ] as const) {
    test(`${name}: a script that only takes a lock stops no job, with or without an id`, async (context) => {
      const shop = await open(context)
      await shop.start(null, { bill: every('100ms') })
      await shop.fires('bill', 3)
      for (const deployment of [null, 'script-1']) await shop.start(deployment, {}, { lock: 'migrate' })
      await shop.fires('bill', 40)
      await shop.neverRetired('bill')
      const { deployments } = await shop.client.deployments.get('shop')
      assert.equal(deployments.length, 1)
    })

    test(`${name}: web and worker processes without ids keep the jobs of each other, and both sides report it`, async (context) => {
      const shop = await open(context)
      const worker = await shop.start(null, { bill: every('100ms') })
      const web = await shop.start(null, { page: every('100ms') })
      await shop.fires('bill', 40)
      await shop.fires('page', 5)
      await shop.neverRetired('bill')
      await shop.neverRetired('page')
      const [seen, other] = await Promise.all([worker, web].map((member) => member.event('deployment.disjoint')))
      assert.deepEqual([seen?.other.pid, other?.other.pid], [web.pid, worker.pid])
    })
  }

  for (const order of [
    ['web', 'worker'],
    ['worker', 'web'],
  ] as const) {
    test(`the ${order[1]} process of a release comes after the ${order[0]} process: nothing stops for good`, async (context) => {
      const shop = await onFile(context)
      const old = await shop.start('v1', { web: every('100ms'), worker: every('100ms') })
      await shop.fires('worker', 3)
      await shop.start('v2', { [order[0]]: every('100ms') })
      await shop.start('v2', { [order[1]]: every('100ms') })
      await shop.stop(old)
      await shop.fires('web', 30)
      await shop.fires('worker', 3)
      assert.deepEqual([await shop.stateOf('web'), await shop.stateOf('worker')], ['active', 'active'])
    })
  }

  test('two services with one app name and ids: both are warned with host and pid, and a name of its own repairs it', async (context) => {
    const shop = await onFile(context)
    const billing = await shop.start('billing-1', { bill: every('100ms') }, { logs: true })
    await shop.fires('bill', 3)
    const web = await shop.start('web-1', { page: every('100ms') }, { logs: true })
    const warning = `process ${billing.pid} on ${hostname()} (deployment billing-1) still does. If it is another program`
    for (const member of [billing, web]) {
      await until(`${member.name} is warned`, () => member.stderr().includes(warning))
      assert.match(member.stderr(), /cronce\(\{ app: 'worker' \}\)/)
    }
    await until('it is retired', async () => (await shop.stateOf('bill')) === 'retired')
    await until('the live process reports it', () => billing.stderr().includes('SCHEDULE_RETIRED'))
    const refusals = async () => (await shop.client.deployments.get('shop')).refused
    await until('the refusal is on record', async () => (await refusals()).length > 0)
    const refused = await refusals()
    assert.deepEqual(
      refused.map(({ schedule, pid }) => [schedule, pid]),
      [['bill', billing.pid]],
    )
    await shop.stop(billing)
    await shop.start('billing-2', { bill: every('100ms') }, { options: { ...SOON, app: 'billing' } })
    await shop.fires('bill', 5)
    const { app, retirements } = await shop.client.schedules.get('bill')
    assert.deepEqual([app, retirements.map(({ cause, to }) => [cause, to !== null])], ['billing', [['dropped', true]]])
    assert.equal(await shop.stateOf('page'), 'active')
  })

  test('rollback: the old release defines again when it is started after the new one was stopped', async (context) => {
    const shop = await onFile(context)
    const first = await shop.start('v1', { bill: every('100ms') })
    await shop.fires('bill', 2)
    const second = await shop.start('v2', { bill: every('150ms'), extra: every('150ms') })
    assert.equal(await shop.everyMs('bill'), 150)
    await shop.stop(first)
    await shop.fires('bill', 10)
    await shop.stop(second)
    await shop.start('v1', { bill: every('100ms') })
    await until('the old definition counts', async () => (await shop.everyMs('bill')) === 100)
    await until('what only the new release had is retired', async () => (await shop.stateOf('extra')) === 'retired')
    await shop.fires('bill', 3)
  })

  test('blue-green: the later one defines, an operator switches back at once, and a third id ends that', async (context) => {
    const shop = await onFile(context)
    await shop.start('blue', { bill: every('100ms') })
    await shop.start('green', { bill: every('150ms') })
    assert.equal(await shop.everyMs('bill'), 150)
    await shop.client.deployments.activate('shop', 'blue')
    await until('blue defines', async () => (await shop.everyMs('bill')) === 100)
    await shop.start('red', { bill: every('200ms') })
    assert.equal(await shop.everyMs('bill'), 200)
    await assert.rejects(shop.client.deployments.activate('shop', 'pink'), { code: 'DEPLOYMENT_NOT_FOUND' })
  })

  test('a release that crashes in a loop changes the schedule once, and the release before defines again', async (context) => {
    const shop = await onFile(context)
    const options = { ...SOON, holdDown: '20s' } as const
    await shop.start('v1', { bill: every('100ms') }, { options })
    for (let crash = 0; crash < 3; crash++) {
      const crashing = await shop.start('v2', { bill: every('150ms') }, { options })
      await crashing.kill()
      const isGone = async () =>
        (await shop.client.deployments.get('shop')).deployments.some(({ id, goneAt }) => id === 'v2' && goneAt !== null)
      await until('its death is on record', isGone)
    }
    const { deployments } = await shop.client.deployments.get('shop')
    assert.equal(deployments.find(({ id }) => id === 'v2')?.onProbation, true)
    await until('the release before defines again', async () => (await shop.everyMs('bill')) === 100)
    assert.equal((await shop.client.schedules.get('bill')).revision, 3)
  })

  test('a renamed job continues under its new name, and no instant is fired under both', async (context) => {
    const shop = await onFile(context)
    const old = await shop.start('v1', { bill: every('200ms') })
    await shop.fires('bill', 3)
    await shop.start('v2', { invoice: every('200ms', { was: 'bill' }) })
    await shop.fires('invoice', 5)
    assert.equal(await shop.stateOf('bill'), 'retired')
    await shop.stop(old)
    const due = async (schedule: string) =>
      (await shop.client.fires.list({ schedule, limit: 500 })).items.map(({ dueAt }) => dueAt)
    const [before, after] = [await due('bill'), await due('invoice')]
    assert.equal(Math.min(...after) - Math.max(...before), 200, 'the first new instant follows the last old one')
  })
})
