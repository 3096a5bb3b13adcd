import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Client, type CronceOptions, connect, cronce, type StoreSource } from 'cronce'
import { surroundLike } from 'cronce/internal'
import { memory } from 'cronce/memory'
import { testKit } from 'cronce/testing'
import { writeAuditReport } from '../src/demo/audit-report.ts'
import { createMirror } from '../src/demo/mirror.ts'
import { declareShop } from '../src/demo/shop.ts'

const HOW = { namespace: 'default', adopt: false, production: false, warn: () => {} }

async function recordsOf(client: Client): Promise<unknown> {
  const fires = (await client.fires.list({ limit: 1_000 })).items
  const runs = (await client.runs.list({ limit: 1_000 })).items
  const { items } = await client.schedules.list()
  const steps = await Promise.all(fires.map((fire) => client.steps.list(fire)))
  return { fires, runs, steps, schedules: items, activity: (await client.activity.list()).items }
}

describe('the history of the demo', () => {
  test('a mirror writes into another store what the first one accepted: fires, runs, steps, logs, the operator log', async () => {
    const kit = testKit({ patience: 1 })
    const mirror = createMirror(() => kit.now())
    const watched: StoreSource = { name: 'watched', open: async (given) => mirror.watch(await kit.store.open(given)) }
    let clock = kit.now()
    const copy = memory({ clock: { wall: () => clock } })
    const target = await copy.open(HOW)
    const setClock = (at: number): void => {
      clock = at
    }
    const options: CronceOptions = {
      store: surroundLike(watched, kit.store),
      app: 'shop',
      logger: false,
      signals: false,
    }
    const app = cronce(options)
    const sleep = (ms: number, signal: AbortSignal): Promise<void> => kit.clock.sleep(ms, signal)
    declareShop(app, { sleep, brokenFrom: kit.now() + 6 * 3_600_000, detailFrom: 0 }, 8)
    await app.start()
    await kit.advance('7h')
    await mirror.copyTo(target, setClock)
    await app.schedules.pause('geo.refresh', { author: 'ada', note: 'for a while' })
    await kit.advance('2h')
    const leaving = app.stop()
    await kit.advance('1m')
    await leaving
    await mirror.copyTo(target, setClock)
    const [original, copied] = [await connect({ store: kit.store }), await connect({ store: copy })]
    const records = (await recordsOf(original)) as { fires: unknown[]; steps: unknown[][]; activity: unknown[] }
    assert.ok(records.fires.length > 20 && records.steps.flat().length > 3 && records.activity.length === 1)
    assert.deepEqual(await recordsOf(copied), records)
    await original.close()
    await copied.close()
  })
})

test('the dashboard of the demo has an audit report to show: of the code that the shop had before', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-demo-test-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = await writeAuditReport(folder)
  const { runs } = JSON.parse(readFileSync(file!, 'utf8')) as {
    runs: readonly { results: readonly { ruleId: string }[] }[]
  }
  const found = new Set(runs[0]!.results.map(({ ruleId }) => ruleId))
  for (const rule of ['FLT001', 'K8S001']) assert.ok(found.has(rule), [...found].join())
})
