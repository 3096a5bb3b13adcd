/** What is committed of a long run: docs/reports/verification.json and the page that shows it. The rest is raw material. */
import { describeMachine, type Report } from '../../scripts/reports/report.ts'
import {
  byCount,
  cell,
  describeContests,
  describeMatrix,
  describeSkew,
  describeSlices,
  type Evidence,
  summarize,
  table,
} from './render-report.ts'
import type { SliceResult } from './results.ts'

const MOST_FAULTS = 12
const NUMBERS = new Intl.NumberFormat('en')

export function verificationReport(
  evidence: Evidence,
  results: readonly Pick<SliceResult, 'part' | 'slice' | 'commit' | 'startedAt'>[],
  { isQuick }: { readonly isQuick: boolean },
): Report {
  const section = (title: string, parts: readonly string[]) => {
    const text = parts.length === 0 ? 'Not run.' : parts.join('\n\n')
    return { title, lines: text.split('\n') }
  }
  const { mutants } = evidence
  const caught = mutants.filter(({ verdict }) => verdict === 'caught').length
  return {
    name: 'verification',
    command: 'npm run verify:long',
    isQuick,
    machine: describeMachine(),
    measured: oldestOfEach(results),
    covers: ['packages/cronce/src', 'packages/checker/src', 'verification'],
    sections: [
      { title: '', lines: summarize(evidence).split('\n') },
      section('What was run', describeSlices(evidence.slices)),
      section('Simulation', simulationOf(evidence)),
      section('Explorer', explorerOf(evidence)),
      section('Chaos', [...chaosOf(evidence), ...evidence.matrices.map(describeMatrix)]),
      section('Locks, leaders, keys', describeContests(evidence.contests)),
      section('Clocks that differ', describeSkew(evidence.skew)),
      section('Mutants', mutantsOf(evidence)),
    ],
    figures: {
      'simulated fires': NUMBERS.format(evidence.simulation?.fires ?? 0),
      'real fires': NUMBERS.format(evidence.chaos.reduce((sum, { fires }) => sum + fires, 0)),
      mutants: `${caught} of ${mutants.length}`,
    },
    comparisons: [],
    plots: [],
  }
}

/** Of a part whose slices ran on several commits, each commit once. */
function oldestOfEach(results: Parameters<typeof verificationReport>[1]): Report['measured'] {
  const kinds = Map.groupBy(results, ({ part, commit }) => `${part} ${commit}`)
  return [...kinds.values()].map((all) => {
    const { part, commit, startedAt } = all.toSorted((one, other) => one.startedAt.localeCompare(other.startedAt))[0]!
    return { part, commit, at: startedAt, load: [] }
  })
}

function simulationOf({ simulation }: Evidence): string[] {
  if (simulation === null) return []
  const { seeds, fires, simulatedMs, seconds, faults, lacking, violations } = simulation
  const numbers = [seeds, (simulatedMs / 86_400_000).toFixed(1), fires, Math.round(fires / Math.max(1, seconds))]
  return [
    table(['seeds', 'simulated days', 'fires', 'fires a second'], [numbers]),
    table(['most frequent faults', 'times'], byCount(faults).slice(0, MOST_FAULTS)),
    ...lacking.map((what) => `**Too rare to mean anything:** ${cell(what)}`),
    ...violations.map(({ seed, name, message }) => `**${name}** with seed ${seed}: ${cell(message)}`),
  ]
}

function explorerOf({ explorations }: Evidence): string[] {
  if (explorations.length === 0) return []
  const rows = explorations.map(({ model, states, depth, isComplete, violation, isExpected }) => [
    ...[model, states, depth, isComplete ? 'all' : 'cut off'],
    violation === null ? 'none' : `${violation.name}${isExpected ? ', as expected' : ''}`,
  ])
  return [table(['model', 'states', 'longest path', 'explored', 'violation'], rows)]
}

/** One row for each store. */
function chaosOf({ chaos }: Evidence): string[] {
  if (chaos.length === 0) return []
  const faultsOf = (counts: Readonly<Record<string, number>>) => (name: string) => counts[name] ?? 0
  const rows = chaos.map(
    ({ store, seeds, fires, required, starts, effects, latenessMs, counts, violations, surprises }) => {
      const times = faultsOf(counts)
      return [
        ...[store, seeds.length, fires, required, starts, effects.accepted, effects.refused],
        ...[times('kill'), times('pause'), times('server crash') + times('server fast') + times('server immediate')],
        ...[latenessMs === null ? '' : Math.round(latenessMs.p99), violations.length + surprises.length],
      ]
    },
  )
  const columns = [
    ...[
      'store',
      'runs',
      'fires',
      'had to run',
      'handlers called',
      'effects accepted',
      'effects refused',
      'kills',
      'pauses',
    ],
    ...['server restarts', 'late while calm, p99 ms', 'violations'],
  ]
  const wrong = chaos.flatMap(({ store, violations, surprises }) => [
    ...violations.map(
      ({ property, message, seed }) => `**${property}** on ${cell(store)} with seed ${seed}: ${cell(message)}`,
    ),
    ...surprises.map((surprise) => `**Surprise** on ${cell(store)}: ${cell(surprise)}`),
  ])
  return [table(columns, rows), ...wrong]
}

function mutantsOf({ mutants }: Evidence): string[] {
  if (mutants.length === 0) return []
  const rows = [...Map.groupBy(mutants, ({ judge }) => judge)].map(([judge, some]) => [
    ...[judge, some.length, some.filter(({ verdict }) => verdict === 'caught').length],
  ])
  const others = mutants.filter(({ verdict }) => verdict !== 'caught')
  return [
    table(['judge', 'mutants', 'caught'], rows),
    ...others.map(({ name, rule, verdict }) => `**${cell(name)}** (${cell(rule)}): ${cell(verdict)}`),
  ]
}

/** The page around the figures. */
export const PAGE = `# Evidence

What \`npm run verify:long\` found: all of the [verification](../verification.md) at length, in slices, each with its commit. Simulation and explorer repeat to the letter, chaos by its plan, since no two runs of real processes are the same. \`npm test\` repeats a part of each on every commit.
The raw material (every slice, all counters, each mutant, the timelines) is made by the same command with \`--pack\`, and is an asset of each release.

![Timeline of a run of chaos on SQLite: the processes, what was done to them, and the fires that they ran.](chaos.svg)

<!-- figures: verification -->
<!-- /figures -->
`
