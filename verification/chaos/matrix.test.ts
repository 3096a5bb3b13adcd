import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Property } from '../../packages/checker/src/verdict.ts'
import { CELL_JOBS, LINGERING_JOBS } from './jobs.ts'
import { type Cell, type CellOptions, problemsOfCell, runCell } from './matrix.ts'
import { sqliteChaos } from './stores/sqlite.ts'

const { CRONCE_LONG } = process.env

/** The cells that have broken schedulers most, slowest first; `npm run chaos -- --matrix` has all of them. */
const CELLS: readonly Cell[] = [
  { point: 'transaction:sent', blow: 'stop' },
  { point: 'step:sent', blow: 'answer-lost' },
  { point: 'transaction:sent', blow: 'answer-lost' },
  { point: 'claim:answered', blow: 'kill' },
  { point: 'settle:sent', blow: 'request-lost' },
  { point: 'recover:sent', blow: 'kill' },
]

/** These are met by most runs of chaos, too. */
const MORE_CELLS: readonly Cell[] = [
  { point: 'claim:sent', blow: 'answer-lost' },
  { point: 'run:returned', blow: 'kill' },
]

/** What went wrong can be looked at. */
const KEPT = join(tmpdir(), 'cronce-chaos-kept')

interface Control {
  readonly mutant: string
  readonly cell: Cell
  readonly options: CellOptions
  readonly property: Property
}

/** Without these mutants, a clean result of the other cells would prove nothing. */
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

// Two at a time, since each mostly waits.
describe('on SQLite', { concurrency: 2 }, () => {
  for (const { mutant, cell, options, property } of CONTROLS) {
    test(`a mutant is noticed: ${mutant}, ${cell.blow} at ${cell.point}`, async () => {
      const { problems, properties } = await runCell(sqliteChaos, cell, { ...options, mutant })
      assert.ok(properties.includes(property), problems.join('\n') || 'nothing was noticed')
    })
  }

  for (const cell of CRONCE_LONG === '1' ? [...CELLS, ...MORE_CELLS] : CELLS) {
    test(`every promise is kept: ${cell.blow} at ${cell.point}`, async () => {
      assert.deepEqual(await problemsOfCell(sqliteChaos, cell, { keep: KEPT }), [], `see ${KEPT}`)
    })
  }
})
