import type { Violation } from '../../packages/checker/src/verdict.ts'
import type { ChaosResult } from './chaos.ts'

/** Of one run, or of several together. */
export interface Summary {
  readonly store: string
  readonly seeds: readonly number[]
  readonly fires: number
  readonly starts: number
  readonly required: number
  readonly effects: { readonly accepted: number; readonly refused: number }
  readonly latenessMs: { readonly p50: number; readonly p99: number; readonly max: number } | null
  readonly counts: Readonly<Record<string, number>>
  readonly outcomes: Readonly<Record<string, number>>
  readonly violations: readonly (Pick<Violation, 'property' | 'basis' | 'message'> & { readonly seed: number })[]
  readonly surprises: readonly string[]
  readonly lacking: readonly string[]
  readonly skipped: readonly string[]
}

export function summaryOf(store: string, { seed, verdict, counts, history, ...result }: ChaosResult): Summary {
  const { required, starts, effects, latenessMs, byOutcome } = verdict.counts
  return {
    store,
    seeds: [seed],
    fires: history.reads.at(-1)!.fires.reduce((sum, { count }) => sum + count, 0),
    starts,
    required,
    effects,
    latenessMs,
    counts,
    outcomes: byOutcome,
    violations: verdict.violations.map(({ property, basis, message }) => ({ property, basis, message, seed })),
    surprises: result.surprises,
    lacking: result.lacking,
    skipped: result.skipped,
  }
}

export function addUp(summaries: readonly Summary[]): Summary {
  const sum = (of: (summary: Summary) => number): number => summaries.reduce((total, one) => total + of(one), 0)
  return {
    store: summaries.at(-1)?.store ?? '',
    seeds: summaries.flatMap(({ seeds }) => seeds),
    fires: sum(({ fires }) => fires),
    starts: sum(({ starts }) => starts),
    required: sum(({ required }) => required),
    effects: { accepted: sum(({ effects }) => effects.accepted), refused: sum(({ effects }) => effects.refused) },
    // Percentiles do not add up: the worst of them.
    latenessMs: summaries.map(({ latenessMs }) => latenessMs).reduce(worse, null),
    counts: addRecords(summaries.map(({ counts }) => counts)),
    outcomes: addRecords(summaries.map(({ outcomes }) => outcomes)),
    violations: summaries.flatMap(({ violations }) => violations),
    surprises: summaries.flatMap(({ surprises }) => surprises),
    lacking: summaries.flatMap(({ lacking }) => lacking),
    skipped: [...new Set(summaries.flatMap(({ skipped }) => skipped))],
  }
}

/** What a run ends with. */
export const EXIT = {
  good: 0,
  bad: 1,
  /** Too little happened, or too little time was witnessed, for a verdict. */
  invalid: 2,
  /** All violations concern elapsed time. Repeat the run before reporting a failure. */
  slow: 3,
} as const

export function exitCode({ violations, surprises, lacking }: Pick<Summary, 'violations' | 'surprises' | 'lacking'>) {
  if (surprises.length > 0 || violations.some(({ basis }) => basis === 'order')) return EXIT.bad
  if (violations.length > 0) return EXIT.slow
  return lacking.length > 0 ? EXIT.invalid : EXIT.good
}

const SHOWN = 20

export function report(summary: Summary): string {
  const { fires, starts, required, effects, violations, surprises, lacking, skipped, latenessMs } = summary
  const rows: [string, string | number][] = [
    ['fires on record', fires],
    ['of them required to run', required],
    ['handlers called', starts],
    ['effects accepted', effects.accepted],
    ['effects refused', effects.refused],
    ...Object.entries(summary.outcomes).map(([outcome, count]): [string, number] => [`fires ${outcome}`, count]),
    ...Object.entries(summary.counts),
    ...(latenessMs === null ? [] : [['late while calm, p99', `${latenessMs.p99.toFixed(0)} ms`] as [string, string]]),
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const lines = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${String(value).padStart(8)}`)
  const bad = [
    ...violations.map(({ property, message, seed }) => `${property} (seed ${seed}): ${message}`),
    ...surprises,
  ]
  return [
    ...lines,
    ...skipped.map((reason) => `  left out: ${reason}`),
    ...bad.slice(0, SHOWN).map((line) => `  ✖ ${line}`),
    ...(bad.length > SHOWN ? [`  … and ${bad.length - SHOWN} more`] : []),
    ...lacking.map((line) => `  too rare: ${line}`),
    {
      [EXIT.good]: '✔ all promises kept',
      [EXIT.bad]: `✖ ${bad.length} violations`,
      [EXIT.invalid]: 'INVALID: too little happened, or too little time was witnessed, for this to mean anything',
      [EXIT.slow]: `✖ ${bad.length} violations, all of which rest on elapsed time`,
    }[exitCode(summary)],
  ].join('\n')
}

function addRecords(records: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum = new Map<string, number>()
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) sum.set(name, (sum.get(name) ?? 0) + value)
  }
  return Object.fromEntries(sum)
}

function worse(one: Summary['latenessMs'], other: Summary['latenessMs']): Summary['latenessMs'] {
  if (one === null || other === null) return one ?? other
  return {
    p50: Math.max(one.p50, other.p50),
    p99: Math.max(one.p99, other.p99),
    max: Math.max(one.max, other.max),
  }
}
