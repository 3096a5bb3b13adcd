import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import type { MisfirePolicy } from '../../src/model/policy.ts'
import { LATENESS, type Lateness, OVERLAPS, play, SITUATIONS, type Situation } from './situations.ts'

const page = readFileSync(new URL('../../../../docs/policies.md', import.meta.url), 'utf8')

interface Table {
  readonly lateness: Lateness
  readonly misfire: MisfirePolicy['late']
  readonly overlaps: readonly string[]
  readonly rows: readonly { readonly situation: Situation; readonly cells: readonly string[] }[]
}

/** Below a heading like `N is late, misfire: 'skip'`: a row for each situation, a column for each overlap policy. */
function readTables(): readonly Table[] {
  return page
    .split('\n### ')
    .slice(1)
    .flatMap((section) => {
      const [, lateness, misfire] = /^N is ([a-z ]+), `misfire: '([a-z]+)'`\n/.exec(section) ?? []
      if (lateness === undefined) return []
      const [head, , ...rows] = section
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .map(cellsOf)
      return [
        {
          lateness: lateness as Lateness,
          misfire: misfire as MisfirePolicy['late'],
          overlaps: head!.slice(1).map((name) => name.replaceAll('`', '')),
          rows: rows.map(([situation, ...cells]) => ({ situation: situation as Situation, cells })),
        },
      ]
    })
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

const tables = readTables()

test('there is a table for each misfire policy and each lateness, with every overlap policy', () => {
  const wanted = Object.keys(LATENESS).flatMap((lateness) => ['latest', 'skip', 'all'].map((late) => [lateness, late]))
  assert.deepEqual(
    tables.map(({ lateness, misfire }) => [lateness, misfire]),
    wanted,
  )
  for (const { overlaps } of tables) assert.deepEqual(overlaps, Object.keys(OVERLAPS))
  const situations = new Set(tables.flatMap(({ rows }) => rows.map(({ situation }) => situation)))
  assert.deepEqual([...situations].toSorted(), Object.keys(SITUATIONS).toSorted())
})

for (const { lateness, misfire, overlaps, rows } of tables) {
  test(`docs/policies.md, N is ${lateness}, misfire ${misfire}: every cell is what happens`, () => {
    assert.ok(rows.length >= 4)
    for (const { situation, cells } of rows) {
      const played = overlaps.map((overlap) => play(misfire, overlap, situation, lateness))
      assert.deepEqual(played, cells, situation)
    }
  })
}
