import assert from 'node:assert/strict'
import test from 'node:test'
import { startRedis } from '../../../../scripts/servers/index.ts'
import { redis } from '../../src/store/redis/redis.ts'
import type { Store } from '../../src/store/store.ts'
import { beat, HOUR_MS } from '../../src/testing/conformance/samples.ts'
import { openTwins, randomFrom, sortHeld } from './random-kit.ts'
import { anyStep, compareLists, eraseAll, INSTANCES } from './random-steps.ts'
import { compareKeys } from './redis-random-kit.ts'
import { afterwards } from './sqlite-kit.ts'

// The same is done to a store in memory and to one in Redis: both say the same to everything, every key of Redis is what the
// records of the other call for, and none is left when all is erased. CRONCE_CASES=50 makes a long run of it.
const { CRONCE_CASES = '1', CRONCE_SEED = '20261107' } = process.env
const ROUNDS = Math.ceil(4 * Number(CRONCE_CASES))
const STEPS = 150
test(`Redis and memory agree on everything, and no key is left over (seed ${CRONCE_SEED})`, async (context) => {
  const server = await startRedis({ appendonly: false })
  afterwards(context, () => server.stop())
  const seen = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const seed = Number(CRONCE_SEED) + round
    const namespace = `random {${round}}`
    const real = (await redis(server.url).open({ namespace, adopt: false, production: false, warn: () => {} })) as Store
    afterwards(context, () => real.close())
    const leases = [HOUR_MS, -HOUR_MS]
    const twins = await openTwins(real, { random: randomFrom(seed), namespace, seen, leases })
    for (const id of INSTANCES)
      await twins.ask('join', async (store) => sortHeld(await store.beat(beat(id, { join: true }))))
    for (let step = 0; step < STEPS; step++) {
      await anyStep(twins)
      if (step % 50 < 49) continue
      await compareLists(twins)
      await compareKeys(server, namespace, twins, `seed ${seed}, step ${step}`)
    }
    for (const [name, map] of Object.entries(twins.data)) if (map instanceof Map && map.size > 0) seen.add(name)
    await eraseAll(twins)
    await compareKeys(server, namespace, twins, `seed ${seed}, all is erased`)
    await twins.stores[0].close()
  }
  const interesting = [
    'applied',
    'conflict',
    'early',
    'exists',
    'full',
    'not-live',
    'schedules',
    'history',
    'steps',
    'notes',
  ]
  assert.deepEqual(
    interesting.filter((name) => !seen.has(name)),
    [],
    'what never happened was not tested',
  )
})
