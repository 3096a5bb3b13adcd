import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { LINGERING_JOBS } from './jobs.ts'
import { type Cell, problemsOfCell, runCell } from './matrix.ts'
import { keepsEveryPromise } from './run-program.ts'
import { runServerCrashes } from './server-crash.ts'
import { postgresChaos } from './stores/postgres.ts'

const { CRONCE_LONG } = process.env
const skip = CRONCE_LONG === '1' ? false : 'takes long: set CRONCE_LONG=1'

/** Those that only a server behind a network shows; `npm run chaos -- --store postgres --matrix` has all of them. */
const CELLS: readonly Cell[] = [
  { point: 'transaction:sent', blow: 'answer-lost' },
  { point: 'settle:sent', blow: 'stop' },
]

/** Acknowledged before it is written, and written late: a crash loses what was acknowledged. */
const LOSSY = { synchronous_commit: 'off', wal_writer_delay: '10s', wal_writer_flush_after: '1GB' }

/** What went wrong can be looked at. */
const KEPT = join(tmpdir(), 'cronce-chaos-kept')
const store = postgresChaos({ name: 'postgres' })

test('four processes keep every promise on PostgreSQL under faults of processes, the network and the server', async (context) => {
  await keepsEveryPromise(context, ['--store', 'postgres', '--seconds', '10', '--recovery', '6'])
})

// Two at a time, since each mostly waits.
describe('on PostgreSQL', { concurrency: 2 }, () => {
  for (const cell of CELLS) {
    test(`every promise is kept: ${cell.blow} at ${cell.point}`, async () => {
      assert.deepEqual(await problemsOfCell(store, cell, { keep: KEPT }), [], `see ${KEPT}`)
    })
  }

  test('a stale settlement is noticed when nothing refuses it', async () => {
    const { problems, properties } = await runCell(
      store,
      { point: 'settle:sent', blow: 'stop' },
      { jobs: LINGERING_JOBS, isOvertaken: true, mutant: 'no-token-check' },
    )
    assert.ok(properties.includes('C9'), problems.join('\n') || 'nothing was noticed')
  })

  // Restarts of the server are among what is done above each time.
  test('a crash of the server loses nothing that was acknowledged', { skip }, async () => {
    const { problems } = await runServerCrashes(postgresChaos({ name: 'crashing' }))
    assert.deepEqual(problems, [])
  })

  test('a server that loses what it acknowledged is noticed', { skip }, async () => {
    const { problems, properties } = await runServerCrashes(postgresChaos({ name: 'lossy', settings: LOSSY }))
    // Which promise it breaks depends on what was lost.
    assert.ok(properties.length > 0, problems.join('\n') || 'nothing was noticed')
  })
})
