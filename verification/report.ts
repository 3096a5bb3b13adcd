/**
 * Turns what the runs wrote with `--json` into docs/evidence: tables, and the picture that the docs show without its tooltips.
 * All figures go to `--raw`, which is not part of the repository.
 *
 *     node verification/report.ts [--simulation file] [--explorer file]… [--chaos file]… [--matrix file]… [--mutants file]… [--exclusive file]…
 *         [--picture file.svg]… [--to folder] [--raw folder]
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Summary } from './chaos/report.ts'
import { compactPicture } from './compact-picture.ts'
import type { ContestReport } from './exclusive/contest-report.ts'
import {
  type Evidence,
  type Explored,
  type MatrixResult,
  type MutantResult,
  renderReport,
  type SimulationTotals,
} from './render-report.ts'

const { values } = parseArgs({
  options: {
    simulation: { type: 'string' },
    explorer: { type: 'string', multiple: true, default: [] },
    chaos: { type: 'string', multiple: true, default: [] },
    mutants: { type: 'string', multiple: true, default: [] },
    matrix: { type: 'string', multiple: true, default: [] },
    exclusive: { type: 'string', multiple: true, default: [] },
    picture: { type: 'string', multiple: true, default: [] },
    to: { type: 'string', default: join(import.meta.dirname, '../docs/evidence') },
    raw: { type: 'string', default: join(import.meta.dirname, '../evidence') },
  },
})

const evidence: Evidence = {
  commit: execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  }).trim(),
  simulation: values.simulation === undefined ? null : read<SimulationTotals>(values.simulation),
  explorations: values.explorer.flatMap((file) => read<Explored | Explored[]>(file)),
  chaos: values.chaos.map((file) => read<Summary>(file)),
  matrices: values.matrix.map((file) => read<MatrixResult>(file)),
  mutants: values.mutants.flatMap((file) => read<MutantResult[]>(file)),
  contests: values.exclusive.flatMap((file) => read<ContestReport[]>(file)),
}
for (const folder of [values.to, values.raw]) mkdirSync(folder, { recursive: true })
writeFileSync(join(values.raw, 'report.json'), `${JSON.stringify(evidence, null, 2)}\n`)
writeFileSync(join(values.to, 'README.md'), renderReport(evidence))
for (const file of values.picture)
  writeFileSync(join(values.to, basename(file)), compactPicture(readFileSync(file, 'utf8')))

function read<Content>(file: string): Content {
  return JSON.parse(readFileSync(file, 'utf8'))
}
