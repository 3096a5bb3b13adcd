import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { cronce } from '../../src/app/cronce.ts'
import type { CronceOptions } from '../../src/app/options.ts'
import type { EventOf } from '../../src/model/event.ts'
import { memory } from '../../src/store/memory/memory.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { startReceiver, until } from './receiver.ts'

function fleetOn(context: TestContext, options: Omit<CronceOptions, 'app' | 'signals' | 'logger'>) {
  const warnings: string[] = []
  const logger = { error: () => {}, warn: (message: string) => void warnings.push(message) }
  const app = cronce({ app: 'shop', signals: false, logger, ...options } as CronceOptions)
  const duplicates: EventOf<'execution.duplicated'>[] = []
  app.on('execution.duplicated', (event) => duplicates.push(event))
  context.after(() => app.stop())
  return { app, warnings, duplicates }
}

const NAME = 'cronce:heartbeat:shop'

test('one heartbeat per period, for any number of instances, and the dead man’s switch receives each of them', async (context) => {
  const { url, received } = await startReceiver(context)
  const store = memory()
  const fleet = [1, 2, 3].map(() => fleetOn(context, { store, heartbeat: { every: '1s', url } }))
  await Promise.all(fleet.map(({ app }) => app.start()))
  await until('three heartbeats are received', () => received.filter(({ what }) => what === '').length >= 3)
  const { app } = fleet[0]!
  const { items } = await app.runs.list({ schedule: NAME, outcome: 'succeeded' })
  assert.equal(new Set(items.map(({ dueAt }) => dueAt)).size, items.length, 'one run for each due time')
  assert.deepEqual(items[0]!.result, { namespace: 'default', store: 'memory', epoch: 1, other: null })
  assert.ok(received.every(({ what }) => what === '/start' || what === ''))
  for (const { duplicates } of fleet) assert.deepEqual(duplicates, [])
})

test('after the end of the fleet there is silence', async (context) => {
  const { url, received } = await startReceiver(context)
  const { app } = fleetOn(context, { store: memory(), heartbeat: { every: '1s', url } })
  await app.start()
  await until('a heartbeat is received', () => received.some(({ what }) => what === ''))
  await app.stop()
  const { length } = received
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  assert.equal(received.length, length)
})

test('what the heartbeats of all fleets share is opened once until the app stops, and closed with it', async (context) => {
  const inner = memory()
  const opened: string[] = []
  let open = 0
  const store: StoreSource<never> = {
    ...inner,
    async open(options) {
      const one = await inner.open(options)
      opened.push(options.namespace)
      open++
      return { ...one, close: () => one.close().then(() => void open--) }
    },
  }
  const { app } = fleetOn(context, { store, heartbeat: '1s' })
  let beats = 0
  app.on('run.ended', ({ outcome }) => outcome === 'succeeded' && beats++)
  for (const wanted of [3, 6]) {
    for (let calls = 0; calls < 6_000 && beats < wanted; calls++) {
      await app.runDue()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    await app.stop()
    assert.ok(beats >= wanted, `${beats}`)
    assert.equal(open, 0)
  }
  assert.deepEqual(opened, ['default', 'cronce:heartbeats', 'default', 'cronce:heartbeats'])
})

test('a second namespace with the same app is found', async (context) => {
  const store = memory()
  const blue = fleetOn(context, { store, namespace: 'blue', heartbeat: '1s' })
  const green = fleetOn(context, { store, namespace: 'green/2', heartbeat: '1s' })
  await Promise.all([blue.app.start(), green.app.start()])
  const found = await until('one of them finds the other', () => blue.duplicates[0] ?? green.duplicates[0])
  assert.equal(found.name, NAME)
  const namespaces = [found.first, found.second].map(({ instance }) => instance.slice(0, instance.lastIndexOf('/')))
  assert.deepEqual(namespaces.sort(), ['blue', 'green/2'])
  assert.match([...blue.warnings, ...green.warnings].join(), /cronce:heartbeat:shop is executed more than once/)
})

test('apps with other names in other namespaces are other fleets', async (context) => {
  const store = memory()
  const shop = fleetOn(context, { store, namespace: 'blue', heartbeat: '1s' })
  const mail = cronce({ store, namespace: 'green', app: 'mail', heartbeat: '1s', signals: false, logger: false })
  context.after(() => mail.stop())
  let beats = 0
  for (const app of [shop.app, mail]) app.on('run.ended', ({ outcome }) => outcome === 'succeeded' && beats++)
  await Promise.all([shop.app.start(), mail.start()])
  await until('both have beaten for a while', () => beats >= 6)
  assert.deepEqual(shop.duplicates, [])
})

test('a wrong heartbeat is refused at once', () => {
  for (const heartbeat of ['1ms', '2d', 'often', null, true, { every: 0 }, { url: 'nowhere' }]) {
    assert.throws(
      () => cronce({ store: memory(), heartbeat: heartbeat as '1m' }),
      { code: 'OPTION_INVALID' },
      String(heartbeat),
    )
  }
  assert.throws(() => cronce({ store: memory(), heartbeat: { evry: '1m' } as object }), { code: 'OPTION_UNKNOWN' })
})
