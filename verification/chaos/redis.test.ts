import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { LINGERING_JOBS } from './jobs.ts'
import { type Cell, type CellOptions, problemsOfCell, runCell } from './matrix.ts'
import { runFailover } from './redis-failover.ts'
import { keepsEveryPromise } from './run-program.ts'
import { runServerCrashes } from './server-crash.ts'
import { redisChaos } from './stores/redis.ts'

/** In which a script of the server has the last word; `npm run chaos -- --store redis --matrix` has all of them. */
const CELL: Cell = { point: 'settle:sent', blow: 'request-late' }

/** Without this mutant, a clean result of the other cells would prove nothing. */
const MUTANT: CellOptions = {
  jobs: LINGERING_JOBS,
  isOvertaken: true,
  mutant: 'redis-no-version-check',
  mutator: join(import.meta.dirname, 'redis-mutant.ts'),
}

/** What went wrong can be looked at. */
const KEPT = join(tmpdir(), 'cronce-chaos-kept')
const store = redisChaos({ name: 'redis' })

test('four processes keep every promise on Redis under faults of processes, the network, the server and its clock', async (context) => {
  await keepsEveryPromise(context, ['--store', 'redis', '--brief', '--seconds', '6', '--recovery', '5'])
})

// Two at a time, since each mostly waits.
describe('on Redis', { concurrency: 2 }, () => {
  test('a stale settlement is noticed when the store does not refuse it', async () => {
    // Without the check, any write may be undone, including one that the cell waits for.
    const told: string[] = []
    for (let tries = 0; tries < 3; tries++) {
      const { problems, properties } = await runCell(store, CELL, MUTANT)
      if (properties.includes('C9')) return
      told.push(...problems)
    }
    assert.fail(told.join('\n') || 'nothing was noticed')
  })

  test(`every promise is kept: ${CELL.blow} at ${CELL.point}`, async () => {
    assert.deepEqual(await problemsOfCell(store, CELL, { keep: KEPT }), [], `see ${KEPT}`)
  })

  test('a server that keeps no log and is killed is noticed', async () => {
    const { problems, properties } = await runServerCrashes(redisChaos({ name: 'forgetful', appendonly: false }))
    // Which promise it breaks depends on what was lost.
    assert.ok(properties.length > 0, problems.join('\n') || 'nothing was noticed')
  })

  test('a replica that is behind takes over: nothing runs twice while every instance lives that knows what ran', async () => {
    const { lostWrites, restored, ranTwice, violations } = await runFailover('all-move', 1_000, KEPT)
    assert.ok(lostWrites > 0 && restored > 0, `${lostWrites} writes were lost, ${restored} fires written again`)
    // A lost durable step is lost: if its run is handed back, as on a busy machine, the step is repeated.
    const others = violations.filter(({ property }) => property !== 'C3')
    assert.deepEqual([ranTwice, others], [[], []], `see ${KEPT}`)
  })
})
