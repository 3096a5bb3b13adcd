/** Turns what the slices of `npm run verify:long` printed into a page and a small report. All figures go to `raw`, which git ignores. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitsSince } from '../../scripts/reports/age.ts'
import { refresh } from '../../scripts/reports/figures.ts'
import { writeReport as publishReport } from '../../scripts/reports/report.ts'
import { addUp, type Summary } from '../chaos/report.ts'
import type { ContestReport } from '../exclusive/contest-report.ts'
import { addTally, emptyTally } from '../simulation/tally.ts'
import { compactPicture } from './compact-picture.ts'
import { PAGE, verificationReport } from './publish.ts'
import {
  type Evidence,
  type Explored,
  type MatrixResult,
  type MutantResult,
  renderReport,
  type SimulationTotals,
  type SkewRow,
} from './render-report.ts'
import type { SliceResult } from './results.ts'

/** The run that is shown as a picture. */
const PICTURE = 'chaos-sqlite.svg'

export interface Reported {
  readonly results: readonly SliceResult[]
  readonly commit: string
  readonly to: string
  readonly raw: string
  /** For docs/reports. */
  readonly reports: string
  /** Not all parts, or smaller ones. */
  readonly isQuick: boolean
}

export function writeReport({ results, commit, to, raw, reports, isQuick }: Reported): void {
  const evidence = evidenceOf(results, commit)
  for (const folder of [to, raw]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(raw, 'report.json'), `${JSON.stringify(evidence, null, 2)}\n`)
  writeFileSync(join(raw, 'report.md'), renderReport(evidence))
  const report = verificationReport(evidence, results, { isQuick })
  publishReport(report, reports)
  const page = refresh(PAGE, new Map([[report.name, report]]), commitsSince, '../')
  writeFileSync(join(to, 'README.md'), page)
  const picture = join(raw, PICTURE)
  if (existsSync(picture)) writeFileSync(join(to, 'chaos.svg'), compactPicture(readFileSync(picture, 'utf8')))
}

export function evidenceOf(results: readonly SliceResult[], commit: string): Evidence {
  const outputs = <Output>(isPart: (part: string) => boolean): readonly Output[] =>
    // Of a slice that was cut off there is text only.
    results.flatMap(({ part, output }) => (isPart(part) && typeof output === 'object' ? [output as Output] : []))
  const of = (name: string) => (part: string) => part === name
  const chaos = Map.groupBy(
    outputs<Summary>((part) => part.startsWith('chaos-')),
    ({ store }) => store,
  )
  return {
    commit,
    slices: results.map(({ output: _, ...slice }) => slice),
    simulation: addSimulations(outputs<SimulationTotals>(of('simulation'))),
    explorations: outputs<readonly Explored[]>(of('explorer')).flat(),
    chaos: [...chaos.values()].map(addUp),
    matrices: outputs<MatrixResult>(of('matrix')),
    mutants: outputs<readonly MutantResult[]>(of('mutants')).flat(),
    contests: outputs<readonly ContestReport[]>(of('exclusive')).flat(),
    skew: outputs<readonly SkewRow[]>(of('skew')).flat(),
  }
}

function addSimulations(all: readonly SimulationTotals[]): SimulationTotals | null {
  if (all.length === 0) return null
  const tally = emptyTally()
  for (const one of all) addTally(tally, one)
  return {
    ...tally,
    from: all.flatMap(({ from }) => from),
    seconds: all.reduce((sum, { seconds }) => sum + seconds, 0),
    lacking: all.flatMap(({ lacking }) => lacking),
  }
}
