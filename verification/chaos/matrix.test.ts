import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CELL_JOBS } from './jobs.ts'
import { type Cell, runCell } from './matrix.ts'
import { sqliteChaos } from './stores/sqlite.ts'

/** Those that have broken schedulers most; `npm run chaos -- --matrix` has all of them. */
const CELLS: readonly Cell[] = [
  { point: 'claim:sent', blow: 'answer-lost' },
  { point: 'claim:answered', blow: 'kill' },
  { point: 'run:starting', blow: 'stop' },
  { point: 'step:sent', blow: 'answer-lost' },
  { point: 'transaction:sent', blow: 'answer-lost' },
  { point: 'transaction:sent', blow: 'stop' },
  { point: 'run:returned', blow: 'kill' },
  { point: 'settle:sent', blow: 'stop' },
  { point: 'settle:sent', blow: 'request-lost' },
  { point: 'recover:sent', blow: 'kill' },
]

test('every promise is kept', { concurrency: 3 }, async (context) => {
  const cells = CELLS.map((cell) =>
    context.test(`${cell.blow} at ${cell.point}`, async () => {
      assert.deepEqual((await runCell(sqliteChaos, cell)).problems, [])
    }),
  )
  await Promise.all(cells)
})

/** Without these, the silence above would say nothing. */
const CONTROLS: readonly { readonly mutant: string; readonly cell: Cell; readonly jobs: readonly string[] }[] = [
  { mutant: 'no-token-check', cell: { point: 'settle:sent', blow: 'stop' }, jobs: ['hold-1', 'hold-2', 'hold-3'] },
  { mutant: 'at-most-once-recovered', cell: { point: 'run:returned', blow: 'kill' }, jobs: ['mail'] },
]

test('what is broken is noticed', { concurrency: 2 }, async (context) => {
  const controls = CONTROLS.map(({ mutant, cell, jobs: names }) =>
    context.test(`${mutant}: ${cell.blow} at ${cell.point}`, async () => {
      const jobs = CELL_JOBS.filter(({ name }) => names.includes(name))
      const { problems, properties } = await runCell(sqliteChaos, cell, { mutant, jobs })
      assert.notDeepEqual(properties, [], problems.join('\n') || 'nothing was noticed')
    }),
  )
  await Promise.all(controls)
})
