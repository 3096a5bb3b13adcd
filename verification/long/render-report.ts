import type { Summary } from '../chaos/report.ts'
import type { ContestReport } from '../exclusive/contest-report.ts'
import type { Exploration } from '../explorer/explore.ts'
import type { Tally } from '../simulation/tally.ts'
import type { Tally as SkewTally } from '../skew/experiment.ts'
import { SYSTEM_NAMES } from '../skew/order.ts'
import type { SliceResult } from './results.ts'

/** Output of the slices. Empty parts were not run, and the report states it. */
export interface Evidence {
  readonly commit: string
  readonly slices: readonly Omit<SliceResult, 'output'>[]
  readonly simulation: SimulationTotals | null
  readonly explorations: readonly Explored[]
  readonly chaos: readonly Summary[]
  readonly matrices: readonly MatrixResult[]
  readonly mutants: readonly MutantResult[]
  readonly contests: readonly ContestReport[]
  readonly skew: readonly SkewRow[]
}

export type SkewRow = SkewTally & { readonly skewMs: number }

/** Every blow at every place. */
export interface MatrixResult {
  readonly store: string
  readonly cells: number
  readonly failed: readonly { readonly cell: { readonly point: string; readonly blow: string } }[]
}

export interface SimulationTotals extends Tally {
  /** The first seed, of each slice. */
  readonly from: number | readonly number[]
  readonly seconds: number
  /** What happened too rarely for the run to mean anything. */
  readonly lacking: readonly string[]
}

export interface Explored extends Exploration {
  /** The model is there to show what goes wrong without something, or on a store that can't do better. */
  readonly isExpected?: boolean
}

export interface MutantResult {
  readonly name: string
  readonly rule: string
  readonly judge: string
  readonly verdict: string
  readonly by: readonly string[]
  /** Seeds until it was. */
  readonly tried: number
}

const DAY_MS = 86_400_000
const NUMBERS = new Intl.NumberFormat('en')
const NOT_RUN = 'Not run.'

export function renderReport(evidence: Evidence): string {
  return [
    '# Evidence',
    'Written by `npm run verify:long`. The commands below repeat its slices: simulation and explorer to the letter, chaos by its plan, since no two runs of real processes are the same.',
    summarize(evidence),
    ...section('What was run', describeSlices(evidence.slices)),
    ...section('Simulation', describeSimulation(evidence.simulation)),
    ...section('Explorer', describeExplorations(evidence.explorations)),
    ...section('Chaos', [...evidence.chaos.flatMap(describeChaos), ...evidence.matrices.map(describeMatrix)]),
    ...section('Locks, leaders, keys', describeContests(evidence.contests)),
    ...section('Clocks that differ', describeSkew(evidence.skew)),
    ...section('Mutants', describeMutants(evidence.mutants)),
  ]
    .join('\n\n')
    .concat('\n')
}

export function describeSlices(slices: Evidence['slices']): string[] {
  if (slices.length === 0) return []
  const rows = [...Map.groupBy(slices, ({ part }) => part)].map(([part, some]) => [
    part,
    some.length,
    some.filter(({ exitCode }) => exitCode === 0).length,
    Math.round(some.reduce((sum, { seconds }) => sum + seconds, 0) / 60),
    [...new Set(some.map(({ commit }) => commit))].join(', '),
    some.map(({ startedAt }) => startedAt.slice(0, 10)).toSorted()[0]!,
  ])
  const red = slices
    .filter(({ exitCode }) => exitCode !== 0)
    .map(({ part, slice, command, exitCode }) => `**Red:** ${part}/${slice}, exit code ${exitCode}: \`${command}\``)
  return [table(['part', 'slices', 'good', 'minutes', 'commit', 'from'], rows), ...red]
}

export function describeSkew(rows: readonly SkewRow[]): string[] {
  if (rows.length === 0) return []
  const columns = ['clocks off by ms', 'who decides', 'slots', 'runs', 'duplicates', 'missed', 'early']
  const cells = rows.map(({ skewMs, system, slots, runs, duplicates, missed, early }) => [
    ...[skewMs, SYSTEM_NAMES[system], slots, runs, duplicates, missed, early],
  ])
  return ['`npm run skew`', table(columns, cells)]
}

export function summarize({ simulation, explorations, chaos, matrices, mutants, contests }: Evidence): string {
  const violations =
    (simulation?.violations.length ?? 0) +
    explorations.filter(({ violation, isExpected = false }) => violation !== null && !isExpected).length +
    chaos.reduce((sum, run) => sum + run.violations.length + run.surprises.length, 0) +
    matrices.reduce((sum, { failed }) => sum + failed.length, 0) +
    contests.reduce((sum, { wrong }) => sum + wrong.length, 0)
  const caught = mutants.filter(({ verdict }) => verdict === 'caught').length
  return table(
    ['violations', 'simulated fires', 'real fires', 'states explored', 'mutants caught'],
    [
      [
        violations,
        simulation?.fires ?? 0,
        chaos.reduce((sum, { fires }) => sum + fires, 0),
        explorations.reduce((sum, { states }) => sum + states, 0),
        `${caught} of ${mutants.length}`,
      ],
    ],
  )
}

function describeSimulation(totals: SimulationTotals | null): string[] {
  if (totals === null) return []
  const { from, seeds, fires, simulatedMs, seconds } = totals
  const numbers = [seeds, (simulatedMs / DAY_MS).toFixed(1), fires, Math.round(fires / Math.max(1, seconds))]
  return [
    `\`npm run simulate -- --from SEED --seeds 1000000\`, from the seeds ${[from].flat().join(', ')}`,
    table(['seeds', 'simulated days', 'fires', 'fires a second'], [numbers]),
    table(['fault', 'times'], byCount(totals.faults)),
    table(['what was met', 'times'], byCount(totals.counters)),
    ...totals.lacking.map((what) => `**Too rare to mean anything:** ${cell(what)}`),
    ...totals.violations.map(({ seed, name, message }) => `**${name}** with seed ${seed}: ${cell(message)}`),
  ]
}

function describeExplorations(explorations: readonly Explored[]): string[] {
  if (explorations.length === 0) return []
  const rows = explorations.map(({ model, states, edges, depth, isComplete, violation, isExpected }) => [
    model,
    states,
    edges,
    depth,
    isComplete ? 'all' : 'not all',
    violation === null ? 'none' : `${violation.name}${isExpected ? ', as expected' : ''}`,
  ])
  const traces = explorations.flatMap(({ model, violation }) => {
    if (violation === null) return []
    const steps = violation.trace.map((step, index) => `${index + 1}. ${cell(step)}`)
    return [`The shortest way to the violation in *${cell(model)}*: ${cell(violation.message)}`, steps.join('\n')]
  })
  return ['`npm run explore`', table(['model', 'states', 'moves', 'depth', 'explored', 'violation'], rows), ...traces]
}

function describeChaos(summary: Summary): string[] {
  const { store, seeds, fires, required, starts, effects, latenessMs } = summary
  const numbers = [seeds.length, fires, required, starts, effects.accepted, effects.refused, latenessMs?.p99 ?? '']
  const columns = [
    'runs',
    'fires',
    'had to run',
    'handlers called',
    'effects accepted',
    'refused',
    'late while calm, p99 ms',
  ]
  return [
    `### On ${cell(store)}`,
    `\`npm run chaos -- --store ${store} --seed ${seeds[0]}\``,
    table(columns, [numbers]),
    table(['what happened', 'times'], byCount(summary.counts)),
    ...summary.skipped.map((reason) => `Left out: ${cell(reason)}.`),
    ...summary.lacking.map((what) => `**Too rare to mean anything:** ${cell(what)}`),
    ...summary.violations.map(({ property, message, seed }) => `**${property}** with seed ${seed}: ${cell(message)}`),
    ...summary.surprises.map((surprise) => `**Surprise:** ${cell(surprise)}`),
  ]
}

export function describeContests(contests: readonly ContestReport[]): string[] {
  if (contests.length === 0) return []
  const columns = [
    ...['store', 'processes', 'sections', 'faults', 'overtaken', 'writes refused', 'terms', 'leaders', 'keys done'],
    ...['keys of unknown end', 'seconds', 'violations'],
  ]
  const rows = contests.map((one) => [
    ...[one.store, one.processes, one.kept, one.faults, one.overtaken, one.refused, one.terms, one.leaders, one.keys],
    ...[one.unknown, one.seconds, one.wrong.length],
  ])
  const wrong = contests.flatMap(({ store, wrong: all }) => all.map((what) => `**On ${cell(store)}:** ${cell(what)}`))
  return ['`npm run verify:exclusive`', table(columns, rows), ...wrong]
}

export function describeMatrix({ store, cells, failed }: MatrixResult): string {
  const bad = failed.map(({ cell: { point, blow } }) => cell(`${point} and ${blow}`))
  const verdict = bad.length === 0 ? 'none failed' : `**failed: ${bad.join(', ')}**`
  return `Every blow at every sync point on ${cell(store)} (\`npm run chaos -- --matrix\`): ${cells} cells, ${verdict}.`
}

function describeMutants(mutants: readonly MutantResult[]): string[] {
  if (mutants.length === 0) return []
  const rows = mutants
    .toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
    .map(({ name, rule, judge, verdict, by, tried }) => {
      return [name, rule, judge, verdict === 'caught' ? by.join(', ') : `**${verdict}**`, tried]
    })
  return [
    '`npm run mutants`',
    'The product with one mistake in it, each time another. A judge that does not notice is not worth believing.',
    table(['mutant', 'breaks', 'judge', 'caught by', 'seeds'], rows),
  ]
}

function section(name: string, parts: readonly string[]): string[] {
  return [`## ${name}`, ...(parts.length === 0 ? [NOT_RUN] : parts)]
}

export function byCount(counts: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(counts).toSorted(([one, few], [other, many]) => many - few || one.localeCompare(other, 'en'))
}

export function table(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const write = (cells: readonly (string | number)[]) => `| ${cells.map(cell).join(' | ')} |`
  return [write(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map(write)].join('\n')
}

/** On one line, and without what a table or HTML would take for its own. */
export function cell(value: string | number): string {
  if (typeof value === 'number') return NUMBERS.format(value)
  return value.replace(/\s+/g, ' ').replace(/[|<>]/g, (sign) => `\\${sign}`)
}
