import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { redisCommand, type Server, startRedis } from '../../../../scripts/servers/index.ts'
import { redis } from '../../src/store/redis/redis.ts'
import { applyAll, applyOne, create, join, loadOne, running } from '../../src/testing/conformance/bench.ts'
import { app, beat, change, keyOf, removal, schedule, settlement } from '../../src/testing/conformance/samples.ts'
import { callsOf, LOOKS, openAt, until } from './redis-races-kit.ts'

const GUIDE = new URL('../../../../docs/redis.md', import.meta.url)

let server: Server
before(async () => {
  server = await startRedis({ appendonly: false })
})
after(() => server?.stop())

/** The rights that the guide calls sufficient. */
async function rightsInGuide(): Promise<string[]> {
  const line = /^ACL SETUSER cronce on >secret (.+)$/m.exec(await readFile(GUIDE, 'utf8'))
  assert.ok(line !== null, 'the guide says what a user needs')
  return line[1]!.split(' ')
}

/** A user of that name, and the address with it. */
async function addUser(name: string, rights: readonly string[]): Promise<string> {
  await redisCommand(server, 'ACL', 'SETUSER', name, 'reset', 'on', '>secret', ...rights)
  return server.url.replace('redis://', `redis://${name}:secret@`)
}

describe('a user of Redis', () => {
  test('with the rights that the guide lists does all that a store does', async (context) => {
    const url = await addUser('cronce', await rightsInGuide())
    const { store, namespace } = await openAt(context, url)
    const { store: other } = await openAt(context, url, namespace)
    let wakes = 0
    store.watch(() => wakes++)
    await join(store, 'i')
    await join(other, 'j')
    await running(other, 'held', { instance: 'j', epoch: other.info.epoch })
    await store.beat(beat('i'))
    const { state, run } = await running(store, 's', { instance: 'i', epoch: store.info.epoch, slots: ['job:report'] })
    const step = { fire: keyOf(run), step: 'charge', token: run.token }
    await store.step({ kind: 'begin', ...step, rerun: false })
    await store.step({ kind: 'end', ...step, failed: false, result: null })
    assert.equal((await store.listSteps(keyOf(run))).length, 1)
    const note = { schedule: 's', token: run.token, progress: null, log: [], logCut: false }
    assert.deepEqual(await store.annotate([note]), { stale: [] })
    assert.equal(await store.saveApp(app('shop')), true)
    assert.equal((await store.loadApp('shop')).app?.name, 'shop')
    const page = { after: null, limit: 5 } as const
    assert.equal((await store.listSchedules({ ...page, prefix: 's' })).items.length, 1)
    assert.equal((await store.listRecords({ ...page, view: 'fires', schedule: 's' })).items.length, 1)
    assert.equal((await store.listRecords({ ...page, view: 'runs' })).items.length, 2)
    assert.equal((await store.listRecords({ ...page, view: 'runs', instance: 'i', outcome: 'open' })).items.length, 1)
    assert.equal((await store.listInstances()).instances.length, 2)
    const due = { jobs: [{ job: 'report', buckets: '1'.repeat(256) }], patienceMs: 0, limit: 5 }
    assert.deepEqual((await store.due(due)).schedules, [])
    const settled = settlement(state, run)
    await applyAll(store, [settled], { claimant: { instance: 'i', leaseMs: 60_000 } })
    await applyAll(other, [removal(settled.state!)], { wake: true })
    await until(() => wakes > 0)
    await store.prune(5)
    while ((await store.prune(5, 's')).deleted > 0);
    assert.equal(await store.mark({ kind: 'drain', instance: 'j', drain: true }), true)

    const looks = () => callsOf(server, ...LOOKS)
    const before = await looks()
    let gone: readonly string[] | null = null
    void store.probe(['j']).then((ids) => {
      gone = ids
    })
    await until(async () => (await looks()) > before)
    await other.close()
    // A probe alone keeps no process alive.
    await until(() => gone !== null)
    assert.deepEqual(gone, ['j'])
    const { instances } = await store.listInstances()
    const { renewals } = instances.find(({ id }) => id === 'j')!
    assert.equal(await store.mark({ kind: 'dead', instance: 'j', renewals, hint: true }), true)
  })

  test('that may use no channels is refused when a store is opened, with what it needs', async () => {
    const rights = (await rightsInGuide()).filter((right) => !right.startsWith('&'))
    const url = await addUser('deaf', [...rights, 'resetchannels'])
    const opening = redis(url).open({ namespace: 'deaf', adopt: false, production: false, warn: () => {} })
    await assert.rejects(opening, { code: 'STORE_FORBIDDEN', hint: /publish and subscribe.*channels/ })
  })

  test('that may not use keys is refused as well', async () => {
    const rights = (await rightsInGuide()).filter((right) => !right.startsWith('~'))
    const url = await addUser('keyless', [...rights, '~other:*'])
    const opening = redis(url).open({ namespace: 'keyless', adopt: false, production: false, warn: () => {} })
    await assert.rejects(opening, { code: 'STORE_FORBIDDEN', hint: /keys/ })
  })

  test('whose channels are taken away later still writes', async (context) => {
    const url = await addUser('silenced', await rightsInGuide())
    const { store } = await openAt(context, url)
    await join(store, 'i')
    const state = await create(store, schedule('s'))
    await redisCommand(server, 'ACL', 'SETUSER', 'silenced', 'resetchannels')
    assert.deepEqual(await applyOne(store, change(state, { fired: 1 }), { wake: true }), { kind: 'applied' })
    assert.equal((await loadOne(store, 's'))?.fired, 1)
    assert.equal(await store.mark({ kind: 'drain', instance: 'i', drain: true }), true)
    assert.equal((await store.beat(beat('i', { state: 'left' }))).alive, true)
  })
})
