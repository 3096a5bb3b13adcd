import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPostgres, startRedis } from '../../../../scripts/servers/index.ts'
import { makeNodeCron } from '../../src/node-cron/drop-in.ts'
import { setLogger } from '../../src/node-cron.ts'
import { postgres } from '../../src/postgres.ts'
import { redis } from '../../src/redis.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { follow, recording, until } from './drop-in-kit.ts'

/** Each store has tests of its own; the drop-in is tried with memory and a file on every commit. */
const { CRONCE_LONG } = process.env
const OPTIONS = { timeout: 600_000, skip: CRONCE_LONG === '1' ? false : 'takes long: set CRONCE_LONG=1' }

const STORES = {
  async postgres() {
    const server = await startPostgres()
    return { stop: () => server.stop(), source: postgres(server.url, { migrate: 'auto' }) as unknown as StoreSource }
  },
  async redis() {
    const server = await startRedis()
    return { stop: () => server.stop(), source: redis(server.url) as unknown as StoreSource }
  },
} as const

for (const [name, start] of Object.entries(STORES)) {
  test(`On ${name} each slot runs once, and goes on where a task is stopped`, OPTIONS, async (context) => {
    setLogger(recording())
    const { source, stop } = await start()
    const crons = [makeNodeCron(), makeNodeCron()]
    context.after(async () => {
      await Promise.all(crons.map((cron) => cron.shutdown()))
      await stop()
    })
    const runs: { readonly slot: number; readonly by: number }[] = []
    const tasks = crons.map((cron, by) => {
      cron.setup({ store: source })
      return cron.schedule('* * * * * *', ({ date }) => void runs.push({ slot: date.getTime(), by }), { name: 'sync' })
    })
    const seen = tasks.map((task) => follow(task, ['execution:skipped']))
    await until(() => runs.length >= 2 && seen.flat().length >= 1, 'two slots ran')
    const stopped = runs.at(-1)!.by
    void tasks[stopped]!.stop()
    const before = runs.length
    await until(() => runs.length >= before + 2, 'they went on')
    assert.ok(runs.slice(before).every(({ by }) => by !== stopped))
    assert.equal(new Set(runs.map(({ slot }) => slot)).size, runs.length)
  })
}
