import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Property } from '../../packages/checker/src/verdict.ts'
import { CELL_JOBS, LINGERING_JOBS } from './jobs.ts'
import { type Cell, type CellOptions, runCell } from './matrix.ts'
import { sqliteChaos } from './stores/sqlite.ts'

/** Those that have broken schedulers most; `npm run chaos -- --matrix` has all of them. */
const CELLS: readonly Cell[] = [
  { point: 'claim:sent', blow: 'answer-lost' },
  { point: 'claim:answered', blow: 'kill' },
  { point: 'step:sent', blow: 'answer-lost' },
  { point: 'transaction:sent', blow: 'answer-lost' },
  { point: 'transaction:sent', blow: 'stop' },
  { point: 'run:returned', blow: 'kill' },
  { point: 'settle:sent', blow: 'request-lost' },
  { point: 'recover:sent', blow: 'kill' },
]

/** What went wrong can be looked at. */
const KEPT = join(tmpdir(), 'cronce-chaos-kept')

test('every promise is kept', { concurrency: 3 }, async (context) => {
  const cells = CELLS.map((cell) =>
    context.test(`${cell.blow} at ${cell.point}`, async () => {
      const { problems } = await runCell(sqliteChaos, cell, { keep: KEPT })
      assert.deepEqual(problems, [], `see ${KEPT}`)
    }),
  )
  await Promise.all(cells)
})

interface Control {
  readonly mutant: string
  readonly cell: Cell
  readonly options: CellOptions
  readonly property: Property
}

/** Without these, the silence above would say nothing. */
const CONTROLS: readonly Control[] = [
  {
    mutant: 'no-token-check',
    cell: { point: 'settle:sent', blow: 'stop' },
    options: { jobs: LINGERING_JOBS, isOvertaken: true },
    property: 'C9',
  },
  {
    mutant: 'at-most-once-recovered',
    cell: { point: 'run:returned', blow: 'kill' },
    options: { jobs: CELL_JOBS.filter(({ name }) => name === 'mail') },
    property: 'C2',
  },
]

test('what is broken is noticed', { concurrency: 2 }, async (context) => {
  const controls = CONTROLS.map(({ mutant, cell, options, property }) =>
    context.test(`${mutant}: ${cell.blow} at ${cell.point}`, async () => {
      const { problems, properties } = await runCell(sqliteChaos, cell, { ...options, mutant })
      assert.ok(properties.includes(property), problems.join('\n') || 'nothing was noticed')
    }),
  )
  await Promise.all(controls)
})
