import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { startEtcd } from '../../../../scripts/servers/index.ts'
import { etcd } from '../../src/store/etcd/etcd.ts'
import { Keys } from '../../src/store/kv/keys.ts'
import { openKvStore } from '../../src/store/kv/open.ts'
import { applyAll, create, join, loadOne } from '../../src/testing/conformance/bench.ts'
import { beat, change, creation, decideIn, schedule } from '../../src/testing/conformance/samples.ts'
import { driverAt } from './etcd-kit.ts'
import { OPENING } from './kv-kit.ts'

const META = new Keys('cronce', OPENING.namespace).meta

/** As if the data came from another cluster. */
async function moveElsewhere(url: string): Promise<void> {
  const driver = driverAt(url)
  const { found } = await driver.read([{ get: META }])
  const value = JSON.stringify({ ...JSON.parse(found[0]!.entries[0]!.value), cluster: 'another' })
  await driver.commit({ guards: [], puts: [{ key: META, value }], groups: [] })
  await driver.close()
}

test('a copy of another cluster is refused until it is adopted, in a new epoch and without its instances', async () => {
  await using server = await startEtcd()
  const source = etcd({ endpoints: [server.url] })
  const original = await source.open(OPENING)
  decideIn(1)
  await join(original, 'i')
  await create(original, schedule('s'))
  await original.close()
  await moveElsewhere(server.url)
  await assert.rejects(source.open(OPENING), { code: 'STORE_COPIED' })
  const adopted = await source.open({ ...OPENING, adopt: true })
  assert.equal(adopted.info.epoch, 2)
  assert.notEqual(await loadOne(adopted, 's'), null)
  assert.deepEqual(
    (await adopted.listInstances()).instances.map(({ id, state }) => [id, state]),
    [['i', 'dead']],
  )
  await adopted.close()
  const again = await source.open({ ...OPENING, adopt: true })
  assert.equal(again.info.epoch, 2, 'there is nothing to adopt any more')
  await again.close()
})

test('what was decided before an adoption is refused after it', async () => {
  await using server = await startEtcd()
  const source = etcd({ endpoints: [server.url] })
  const store = await source.open(OPENING)
  decideIn(1)
  const state = await create(store, schedule('s'))
  await moveElsewhere(server.url)
  const adopted = await source.open({ ...OPENING, adopt: true })
  const { results } = await store.apply([change(state, { fired: 7 }), creation(schedule('t'))])
  assert.deepEqual(results, [{ kind: 'conflict' }, { kind: 'conflict' }])
  assert.deepEqual([store.info.epoch, (await loadOne(store, 's'))?.fired], [2, 0])
  decideIn(2)
  await applyAll(store, [change(state, { fired: 8 })])
  await Promise.all([store.close(), adopted.close()])
})

test('a cluster that went back in time is refused until it is adopted', async () => {
  await using server = await startEtcd()
  const [data, copy] = ['data', 'copy'].map((name) => `${server.directory}/${name}`)
  const source = etcd({ endpoints: [server.url] })
  const store = await source.open(OPENING)
  decideIn(1)
  const state = await create(store, schedule('s'))
  await server.halt()
  execFileSync('cp', ['-a', data!, copy!])
  await server.restart()
  for (let fired = 1; fired <= 5; fired++) await applyAll(store, [change({ ...state, version: fired }, { fired })])
  await server.halt()
  rmSync(data!, { recursive: true })
  execFileSync('mv', [copy!, data!])
  await server.restart()
  await assert.rejects(store.load(['s']), { code: 'STORE_REPLACED' })
  await assert.rejects(store.beat(beat('i', { join: true })), { code: 'STORE_REPLACED' })
  // Neither does a process that starts now and has not seen it.
  await assert.rejects(source.open(OPENING), { code: 'STORE_COPIED' })
  const adopted = await source.open({ ...OPENING, adopt: true })
  assert.deepEqual([adopted.info.epoch, (await loadOne(adopted, 's'))?.fired], [2, 0])
  await Promise.all([store.close(), adopted.close()])
})

test('a cluster that was wiped is another store', async () => {
  await using server = await startEtcd()
  const source = etcd({ endpoints: [server.url] })
  const store = await source.open(OPENING)
  decideIn(1)
  await create(store, schedule('s'))
  await server.halt()
  rmSync(`${server.directory}/data`, { recursive: true })
  await server.restart()
  const fresh = await source.open(OPENING)
  await assert.rejects(store.apply([creation(schedule('t'))]), { code: 'STORE_REPLACED' })
  assert.equal(await loadOne(fresh, 't'), null)
  await Promise.all([store.close(), fresh.close()])
})

test('a term that another process writes while the store is opened is no sign of a copy', async () => {
  await using server = await startEtcd()
  const [driver, rival] = [driverAt(server.url), driverAt(server.url)]
  const opening = { ...OPENING, prefix: 'cronce', onClose: () => driver.close() }
  const store = await openKvStore(driver, opening)
  const identify = driver.identify.bind(driver)
  const key = new Keys('cronce', OPENING.namespace).key('term')
  const write = (term: number) => rival.commit({ guards: [], puts: [{ key, value: String(term) }], groups: [] })
  await write(1)
  let later = 0
  driver.identify = async () => {
    const known = await identify()
    later = known.term + 1
    await write(later)
    return known
  }
  await openKvStore(driver, opening)
  const { found } = await rival.read([{ get: key }])
  assert.equal(found[0]!.entries[0]?.value, String(later), 'the later one stays')
  await Promise.all([store.close(), rival.close()])
})
