import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect, cronce } from 'cronce'
import { memory } from 'cronce/memory'
import { postgres } from 'cronce/postgres'
import { redis } from 'cronce/redis'
import { type Server, startPostgres, startRedis } from '../../../scripts/servers/index.ts'
import { createHandler } from '../src/index.ts'
import { ask, codeOf, eventually } from './kit.ts'

const STORES = {
  PostgreSQL: {
    start: (): Promise<Server> => startPostgres({ settings: { fsync: 'off' } }),
    store: (url: string) => postgres(url, { migrate: 'auto' }),
  },
  Redis: { start: (): Promise<Server> => startRedis(), store: (url: string) => redis(url) },
} as const

describe('without its store', { concurrency: 2 }, () => {
  for (const [name, { start, store }] of Object.entries(STORES)) {
    test(`${name}, a server is alive and not ready, and answers requests with 503`, async (context) => {
      const server = await start()
      let isStopped = false
      context.after(async () => {
        if (!isStopped) await server.stop()
      })
      const client = await connect({ store: store(server.url), logger: false })
      const handler = createHandler(client, { access: () => 'operate', logger: false })
      context.after(() => client.close())
      assert.equal((await ask(handler, 'GET', '/readyz')).status, 200)
      assert.equal((await ask(handler, 'GET', '/api/v1/store')).status, 200)
      await client.schedules.create('s', { job: 'j', every: '1h' })
      assert.equal((await ask(handler, 'GET', '/api/v1/overview')).body.schedules.active, 1)

      await server.stop()
      isStopped = true
      await eventually(async () => (await ask(handler, 'GET', '/readyz')).status === 503)
      assert.equal((await ask(handler, 'GET', '/livez')).status, 200)
      const asked = await ask(handler, 'POST', '/api/v1/schedules/s/trigger')
      assert.match(codeOf(asked), /^503 STORE_/)
      const { password } = new URL(server.url)
      assert.ok(password === '' || !JSON.stringify(asked.body).includes(password), 'no secret is shown')
    })
  }
})

test('readiness looks at one instance, however many others there are or were', async (context) => {
  const app = cronce({ store: memory(), logger: false, signals: false })
  app.job('j', { every: '1h' }, () => {})
  context.after(() => app.stop())
  await app.start()
  const list = async (): Promise<never> => assert.fail('all were listed')
  const handler = createHandler(Object.create(app, { instances: { value: { ...app.instances, list } } }), {
    access: () => 'operate',
    logger: false,
  })
  const readyz = async () => (await ask(handler, 'GET', '/readyz')).status
  assert.equal(await readyz(), 200)
  await app.instances.drain(app.instance!)
  assert.equal(await readyz(), 503)
})
