import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { startPostgres } from '../../../../scripts/servers/index.ts'
import { postgres } from '../../src/postgres.ts'
import { wakeChannel } from '../../src/store/postgres/wake-channel.ts'
import { urlWith } from './plain-database.ts'

const NOTIFICATIONS = 20_000

test('a role without any right can send wake-ups, and wakes no instance more than twenty times a second', async (context) => {
  const server = await startPostgres()
  const { url } = server
  const source = postgres(url, { migrate: 'auto' })
  const store = await source.open({ namespace: 'default', adopt: false, production: false, warn: () => {} })
  const owner = new pg.Client(url)
  await owner.connect()
  await owner.query(`create role stranger login password 'stranger'`)
  const stranger = new pg.Client(urlWith(url, { user: 'stranger', password: 'stranger' }))
  await stranger.connect()
  context.after(async () => {
    await Promise.all([store.close(), owner.end(), stranger.end()])
    await server.stop()
  })
  await assert.rejects(stranger.query('select * from cronce._meta'), /permission denied/)

  let hints = 0
  store.watch(() => hints++)
  const channel = wakeChannel('cronce', 'default')
  const until = async (isDone: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 6_000 && !isDone(); tries++) await new Promise((resolve) => setTimeout(resolve, 10))
    assert.ok(isDone())
  }
  // Until it listens.
  while (hints === 0) {
    await stranger.query('select pg_notify($1, $2)', [channel, 'anybody there'])
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  hints = 0
  const begunAt = performance.now()
  await stranger.query(`select pg_notify($1, i::text) from generate_series(1, ${NOTIFICATIONS}) i`, [channel])
  await stranger.query(
    `select pg_notify($1, 'busy:' || i || repeat('x', 1000)) from generate_series(1, ${NOTIFICATIONS}) i`,
    [channel],
  )
  // A message that a peer sends after all of that is received.
  const before = hints
  await owner.query('select pg_notify($1, $2)', [channel, 'the last'])
  await until(() => hints > before)
  const allowed = 20 + (performance.now() - begunAt) / 50 + 1
  assert.ok(hints <= allowed, `${hints} wake-ups, ${allowed} allowed`)
})
