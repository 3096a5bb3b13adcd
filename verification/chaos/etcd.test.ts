import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Cell, problemsOfCell } from './matrix.ts'
import { keepsEveryPromise } from './run-program.ts'
import { etcdChaos } from './stores/etcd.ts'

/** In which the server has the last word; `npm run chaos -- --store etcd --matrix` has all of them. */
const CELL: Cell = { point: 'settle:sent', blow: 'request-late' }

/** What went wrong can be looked at. */
const KEPT = join(tmpdir(), 'cronce-chaos-kept')
const { CRONCE_LONG } = process.env

// Two at a time, since each mostly waits. `npm run chaos -- --store etcd` has more processes, more faults and all cells.
describe('on etcd', { concurrency: 2 }, () => {
  test('three processes keep every promise under faults of processes, the network and the server', async (context) => {
    const short = ['--brief', '--workers', '3', '--seconds', '4', '--recovery', '4']
    await keepsEveryPromise(context, ['--store', 'etcd', ...short])
  })

  test(`every promise is kept: ${CELL.blow} at ${CELL.point}`, async () => {
    assert.deepEqual(await problemsOfCell(etcdChaos, CELL, { keep: KEPT }), [], `see ${KEPT}`)
  })
})

if (CRONCE_LONG === '1') {
  test('four processes keep every promise on etcd in a longer run', async (context) => {
    await keepsEveryPromise(context, ['--store', 'etcd', '--seconds', '20', '--recovery', '5'])
  })

  test('four processes keep every promise on three members, whose leader is killed and frozen', async (context) => {
    await keepsEveryPromise(context, ['--store', 'etcd3', '--seconds', '20', '--recovery', '10'])
  })
}
