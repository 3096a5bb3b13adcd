import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runTrial } from './experiment.ts'
import { SYSTEMS } from './order.ts'

const MOST_TRIALS = 6

test('with clocks 900 ms behind and ahead a lock that is freed at the end runs slots again; the coordinator and jobs do not', {
  timeout: 600_000,
}, async (context) => {
  for (let trial = 0; trial < MOST_TRIALS; trial++) {
    const tallies = await runTrial({ skewMs: 900, seconds: 3, systems: SYSTEMS })
    const [lock, coordinator, jobs] = SYSTEMS.map((system) => tallies.find((tally) => tally.system === system)!)
    assert.deepEqual([coordinator!.duplicates, coordinator!.early], [0, 0])
    assert.deepEqual([jobs!.duplicates, jobs!.early, jobs!.missed], [0, 0, 0])
    // node-cron misses slots on a machine that pauses for a second, with any coordinator. Such a trial shows nothing
    // else.
    if (lock!.duplicates > 0 && lock!.early > 0 && coordinator!.missed <= 1) return
    context.diagnostic(`a trial on a machine that was too busy: ${JSON.stringify([lock, coordinator])}`)
  }
  assert.fail(`the machine was too busy in each of ${MOST_TRIALS} trials`)
})
