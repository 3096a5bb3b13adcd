import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Server, startEtcd, startPostgres, startRedis } from '../../../../scripts/servers/index.ts'
import { etcd } from '../../src/store/etcd/etcd.ts'
import { postgres } from '../../src/store/postgres/postgres.ts'
import { redis } from '../../src/store/redis/redis.ts'
import { until } from '../processes/fleet.ts'
import { type CoordinatedFleet, type Process, recordsOf, startCoordinatedFleet } from './coordinator-fleet.ts'

const SLOTS = 3
/** The same rules are checked on every commit with a file, and each store by its own tests. */
const { CRONCE_LONG } = process.env
const skip = CRONCE_LONG === '1' ? false : 'takes long: set CRONCE_LONG=1'

async function startThree(fleet: CoordinatedFleet): Promise<Process[]> {
  const skews = [0, 300, 900]
  return Promise.all(
    skews.map((skewMs, number) => fleet.start({ name: `p${number}`, skewMs, tasks: [{ name: 'sync' }] })),
  )
}

async function checkSlots(fleet: CoordinatedFleet): Promise<void> {
  await until('enough slots have run', () => fleet.lines().length >= 2 * SLOTS)
  const started = fleet.lines().filter(({ what }) => what === 'started')
  assert.equal(new Set(started.map(({ slot }) => slot)).size, started.length)
  const records = await recordsOf(fleet, 'sync')
  for (const { slot } of started) assert.ok(records.some(({ dueAt }) => dueAt === slot))
}

test('on PostgreSQL each slot runs once', { skip }, async (context: TestContext) => {
  const server = await startPostgres()
  context.after(() => server.stop())
  const fleet = await startCoordinatedFleet(context, {
    url: server.url,
    source: postgres(server.url, { migrate: 'auto' }),
  })
  await startThree(fleet)
  await checkSlots(fleet)
})

test('on Redis each slot runs once; none runs while the server is down, and they go on after it', {
  skip,
}, async (context: TestContext) => {
  const server = await startRedis()
  context.after(() => server.stop())
  const fleet = await startCoordinatedFleet(context, { url: server.url, source: redis(server.url) })
  await survivesAnOutage(fleet, server)
})

test('on etcd each slot runs once; none runs while the server is down, and they go on after it', {
  skip,
}, async (context: TestContext) => {
  const server = await startEtcd()
  context.after(() => server.stop())
  const url = server.url.replace('http:', 'etcd:')
  const fleet = await startCoordinatedFleet(context, { url, source: etcd(url) })
  await survivesAnOutage(fleet, server)
})

async function survivesAnOutage(fleet: CoordinatedFleet, server: Server): Promise<void> {
  const processes = await startThree(fleet)
  await checkSlots(fleet)
  await server.kill()
  for (const one of processes) {
    const from = one.messages.length
    await until('node-cron skips a slot', () =>
      one.messages.slice(from).some((message) => message.type === 'skipped' && message.reason === 'coordinator-error'),
    )
  }
  await server.restart()
  const before = fleet.lines().length
  await until('they go on', () => fleet.lines().length >= before + 2 * SLOTS)
  const started = fleet.lines().filter(({ what }) => what === 'started')
  assert.equal(new Set(started.map(({ slot }) => slot)).size, started.length)
}
