import assert from 'node:assert/strict'
import test from 'node:test'
import { startEtcd } from '../../../../scripts/servers/index.ts'
import { etcd } from '../../src/store/etcd/etcd.ts'
import { Keys } from '../../src/store/kv/keys.ts'
import type { Store } from '../../src/store/store.ts'
import { beat, HOUR_MS } from '../../src/testing/conformance/samples.ts'
import { driverAt } from './etcd-kit.ts'
import { OPENING } from './kv-kit.ts'
import { openTwins, randomFrom, sortHeld } from './random-kit.ts'
import { anyStep, compareLists, eraseAll, INSTANCES } from './random-steps.ts'

// The same is done to a store in memory and to one in etcd: both say the same to everything, and no key of a schedule is left when all
// is erased. CRONCE_CASES=50 makes a long run of it.
const { CRONCE_CASES = '1', CRONCE_SEED = '20261118' } = process.env
const STEPS = 150

/** Keys that outlive schedules: identity, counts of fires, instances, apps. */
const LASTING = new Set([
  'meta',
  'term',
  'floor',
  'wake',
  'f',
  'u',
  'us',
  'ur',
  'i',
  'iv',
  'ie',
  'id',
  'g',
  'gt',
  'go',
  'a',
])

async function leftOver(url: string, namespace: string): Promise<string[]> {
  const driver = driverAt(url)
  const keys = new Keys('cronce', namespace)
  const range = { from: keys.root, to: `${keys.root.slice(0, -1)}\x01` }
  const { found } = await driver.read([{ ...range, keysOnly: true }])
  await driver.close()
  const names = found[0]!.entries.map(({ key }) => keys.parts(key))
  return names
    .filter((parts) => !LASTING.has(parts[0]!) || (parts[0] === 'f' && parts.length > 1))
    .map((parts) => parts.join(' '))
}

test(`etcd and memory agree on everything, and no key is left over (seed ${CRONCE_SEED})`, async () => {
  await using server = await startEtcd()
  const seen = new Set<string>()
  for (let round = 0; round < Number(CRONCE_CASES); round++) {
    const namespace = `random ${round}`
    const real = (await etcd({ endpoints: [server.url] }).open({ ...OPENING, namespace })) as Store
    const random = randomFrom(Number(CRONCE_SEED) + round)
    // etcd counts leases in seconds.
    const twins = await openTwins(real, { random, namespace, seen, leases: [HOUR_MS] })
    for (const id of INSTANCES) {
      await twins.ask('join', async (store) => sortHeld(await store.beat(beat(id, { join: true }))))
    }
    for (let step = 0; step < STEPS; step++) {
      await anyStep(twins)
      if (step % 50 === 49) await compareLists(twins)
    }
    await eraseAll(twins)
    assert.deepEqual(await leftOver(server.url, namespace), [])
    await real.close()
  }
  assert.ok(['applied', 'conflict'].every((kind) => seen.has(kind)))
})
