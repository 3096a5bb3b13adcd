import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawWorld, playWorld, simulateWorld } from './simulate-worlds.ts'

// CRONCE_SEED picks other worlds; CRONCE_LONG=1 plays three hundred.
const { CRONCE_SEED = '20261119', CRONCE_LONG, CRONCE_WORLDS } = process.env
/** In virtual time: an instance takes a moment to start, and to see that another one is dead. */
const CLOSE_MS = 5_000
const WORLDS = Number(CRONCE_WORLDS ?? (CRONCE_LONG === '1' ? 300 : 3))

test('what simulate says of random schedules and an outage is what the engine then does', async () => {
  for (let index = 0; index < WORLDS; index++) {
    const world = drawWorld(Number(CRONCE_SEED) + index)
    const [played, simulated] = [await playWorld(world), await simulateWorld(world)]
    const about = JSON.stringify(world)
    assert.deepEqual(simulated.fires, played.fires, about)
    assert.deepEqual([...simulated.runs.keys()].sort(), [...played.runs.keys()].sort(), about)
    for (const [run, at] of played.runs) {
      assert.ok(Math.abs(simulated.runs.get(run)! - at) <= CLOSE_MS, `${run} of ${about}`)
    }
  }
})
