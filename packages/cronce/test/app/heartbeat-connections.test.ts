import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { type Cronce, cronce } from '../../src/app/cronce.ts'
import { postgres } from '../../src/store/postgres/postgres.ts'
import { asking, eventually, openFor } from '../store/postgres-connection-kit.ts'

/** Of one instance: two for statements, and the session. */
const MOST = 3
const CALLS = 6

let server: Server

before(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})

after(() => server.stop())

function appOn(
  context: TestContext,
  name: string,
): { readonly app: Pick<Cronce, 'start' | 'runDue' | 'stop'>; readonly beats: () => number } {
  const store = postgres(server.url, { migrate: 'auto' })
  const app = cronce({ store, app: name, namespace: name, heartbeat: '1s', signals: false, logger: false })
  let beats = 0
  app.on('run.ended', ({ outcome }) => outcome === 'succeeded' && beats++)
  context.after(() => app.stop())
  return { app, beats: () => beats }
}

/** The connections of the app, which is alone on the server: the test has one of its own. */
function connectionsOf(context: TestContext): () => Promise<number> {
  const watcher = openFor(context, server.url, { connections: 1 })
  const sql = `select count(*)::text as answer from pg_stat_activity
                where backend_type = 'client backend' and pid <> pg_backend_pid()`
  return async () => Number(await watcher.ask(asking(sql), []))
}

test('an app that only calls runDue writes its heartbeats on its own connections, and leaves none', async (context) => {
  const count = connectionsOf(context)
  const { app, beats } = appOn(context, 'due')
  const counts: number[] = []
  for (let calls = 0; calls < CALLS; calls++) {
    const before = beats()
    await eventually('a heartbeat is due', async () => {
      await app.runDue()
      return beats() > before
    })
    counts.push(await count())
  }
  assert.ok(Math.max(...counts) <= MOST, counts.join())
  await app.stop()
  await eventually('all are closed', async () => (await count()) === 0)
})

test('a started app writes them on its own connections, also after it was stopped and started again', async (context) => {
  const count = connectionsOf(context)
  const { app, beats } = appOn(context, 'started')
  for (const wanted of [2, 4]) {
    await app.start()
    const counts: number[] = []
    await eventually('there are heartbeats', async () => {
      counts.push(await count())
      return beats() >= wanted
    })
    assert.ok(Math.max(...counts) <= MOST, counts.join())
    await app.stop()
    await eventually('all are closed', async () => (await count()) === 0)
  }
})
