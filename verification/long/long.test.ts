import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { chooseSlices, longParts, type Slice } from './parts.ts'
import { evidenceOf } from './report.ts'
import { isStillGood, type SliceResult } from './results.ts'

const SIZES = { simulationSeconds: 1, simulationSlices: 3, fires: 5_000, states: 50, fleetSeconds: 1, folder: 'raw' }
const MUTANTS = Array.from({ length: 130 }, (_, index) => `mutant-${index}`)
const PARTS = longParts(SIZES, { models: ['skip', 'queue'], mutants: MUTANTS })
const namesOf = (slices: readonly Slice[]): string[] => slices.map(({ part, name }) => `${part}/${name}`)

const RESULT: SliceResult = {
  ...{ part: 'explorer', slice: 'skip', command: 'node x', commit: 'abc', startedAt: '2026-11-18T00:00:00.000Z' },
  ...{ code: 'same', seconds: 60, exitCode: 0, output: [] },
}

test('no two slices have the same name, and every mutant is in one of them', () => {
  const names = namesOf(chooseSlices(PARTS, []))
  assert.equal(new Set(names).size, names.length)
  const named = chooseSlices(PARTS, ['mutants']).flatMap(({ args }) => args[args.indexOf('--only') + 1]!.split(','))
  assert.deepEqual(named, MUTANTS)
})

test('a part is named with all of its slices, or with one of them', () => {
  assert.deepEqual(namesOf(chooseSlices(PARTS, ['explorer', 'chaos-redis/02'])), [
    ...['explorer/skip', 'explorer/queue', 'chaos-redis/02'],
  ])
  assert.throws(() => chooseSlices(PARTS, ['chaos']), /There is no part chaos\. There are simulation, explorer/)
})

test('a result is taken over if it is good and judged the code of now', () => {
  assert.equal(isStillGood(RESULT, 'same'), true)
  assert.equal(isStillGood({ ...RESULT, exitCode: 1 }, 'same'), false)
  assert.equal(isStillGood(RESULT, 'other'), false)
  assert.equal(isStillGood(null, 'same'), false)
})

test('what was cut off adds nothing, and the slices of a store are added up', () => {
  const chaos = (store: string, fires: number) => ({
    ...{ store, seeds: [fires], fires, starts: 1, required: 1, effects: { accepted: 1, refused: 0 }, latenessMs: null },
    ...{ counts: {}, outcomes: {}, violations: [], surprises: [], lacking: [], skipped: [] },
  })
  const { chaos: added, explorations } = evidenceOf(
    [
      { ...RESULT, output: 'Segmentation fault' },
      { ...RESULT, part: 'chaos-redis', slice: '01', output: chaos('redis', 2_000) },
      { ...RESULT, part: 'chaos-redis', slice: '02', output: chaos('redis', 300) },
      { ...RESULT, part: 'chaos-etcd', slice: '01', output: chaos('etcd', 70) },
    ],
    'abc',
  )
  assert.deepEqual(
    added.map(({ store, fires }) => [store, fires]),
    [
      ['redis', 2_300],
      ['etcd', 70],
    ],
  )
  assert.deepEqual(explorations, [])
})

test('an interrupted run goes on where it was', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-long-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const parts = 'explorer/failover,explorer/failover-without-epoch'
  const start = (...more: string[]): ChildProcess =>
    spawn(process.execPath, [
      join(import.meta.dirname, 'run.ts'),
      ...[
        '--part',
        parts,
        '--explorer-states',
        '50',
        '--raw',
        folder,
        '--to',
        join(folder, 'report'),
        '--reports',
        join(folder, 'reports'),
        ...more,
      ],
    ])
  const first = start()
  const before = await linesOf(first, (line) => line.startsWith('✔') && first.kill('SIGINT'))
  const after = await linesOf(start('--resume'))
  const namesIn = (lines: readonly string[], mark: string): string[] =>
    lines.filter((line) => line.startsWith(mark)).map((line) => line.split(' ')[1]!)
  const ended = namesIn(before, '✔')
  assert.equal(ended[0], 'explorer/failover')
  assert.deepEqual([...ended, ...namesIn(after, '▶')], parts.split(','), 'each of them once')
  assert.match(readFileSync(join(folder, 'report/README.md'), 'utf8'), /quick run[\s\S]*\| explorer \| 2 \| 2 \|/)
})

async function linesOf(child: ChildProcess, onLine: (line: string) => unknown = () => {}): Promise<string[]> {
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout! })) {
    lines.push(line)
    onLine(line)
  }
  return lines
}
