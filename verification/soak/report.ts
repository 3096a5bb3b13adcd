import { resolve } from 'node:path'
import { table } from '../../bench/shared/table.ts'
import type { Plot } from '../../scripts/reports/plot.ts'
import { describeMachine, measuredNow, ROOT, writeReport } from '../../scripts/reports/report.ts'
import type { Judged } from './judge.ts'
import type { Sample, SizeSample } from './order.ts'

export interface SoakResult {
  readonly store: string
  readonly seed: number
  readonly minutes: number
  readonly schedules: number
  readonly everySeconds: number
  readonly faults: Readonly<Record<string, number>>
  /** Measured processes that ended by themselves. */
  readonly exits: number
  readonly fires: number
  readonly samples: Readonly<Record<string, readonly Sample[]>>
  readonly sizes: readonly SizeSample[]
  readonly judged: readonly Judged[]
}

const MEBIBYTE = 2 ** 20
/** A shorter run has too few samples for a slope. */
const COMPLETE_MINUTES = 60
/** Of each line in a plot. */
const MOST_POINTS = 60

export function soakTable({ judged }: SoakResult): string {
  const value = (number: number, unit: string): string => {
    const inUnit = unit === 'MiB' ? number / MEBIBYTE : number
    return inUnit.toLocaleString('en-US', { maximumFractionDigits: 1 })
  }
  return table(
    ['', 'first judged', 'last', 'growth', 'allowed', 'verdict'],
    judged.map(({ what, unit, from, to, growth, allowed, verdict }) => [
      unit === '' ? what : `${what}, ${unit}`,
      ...[from, to, growth, allowed].map((number) => value(number, unit)),
      verdict,
    ]),
  )
}

export function publishSoak(result: SoakResult, folder: string): void {
  const { store, seed, minutes, schedules, everySeconds, faults, exits, fires } = result
  const dealt = Object.values(faults).reduce((sum, times) => sum + times, 0)
  writeReport(
    {
      name: `soak-${store}`,
      command: `npm run soak -- --store ${store} --minutes ${minutes} --seed ${seed}`,
      isQuick: minutes < COMPLETE_MINUTES,
      machine: describeMachine(),
      measured: [measuredNow('all')],
      covers: ['packages/cronce/src', 'verification/soak'],
      sections: [
        {
          title: `On ${store}`,
          lines: [
            `${schedules} schedules every ${everySeconds} s, ${fires.toLocaleString('en-US')} fires in the measured processes, ${dealt} faults; ${exits} measured processes ended by themselves.`,
            '',
            ...soakTable(result).split('\n'),
          ],
        },
        {
          title: `Faults on ${store}`,
          lines: table(
            ['fault', 'times'],
            Object.entries(faults).map(([name, times]) => [name, String(times)]),
          ).split('\n'),
        },
      ],
      figures: { fires: fires.toLocaleString('en-US'), faults: String(dealt) },
      comparisons: [],
      plots: plotsOf(result),
    },
    resolve(ROOT, folder),
  )
}

function plotsOf({ store, samples, sizes }: SoakResult): readonly Plot[] {
  const line = (id: string, title: string, unit: string, of: (sample: Sample) => number): Plot => ({
    ...({ kind: 'lines', id, unit, x: 'minutes' } as const),
    title: `Soak on ${store}: ${title}`,
    note: 'Three processes, with a fault every few seconds.',
    lines: Object.entries(samples).map(([label, own]) => ({
      label,
      points: thinned(own).map((sample) => [minute(sample.at), of(sample)] as const),
    })),
  })
  return [
    line('heap', 'heap after a collection', 'MiB', ({ heap }) => rounded(heap / MEBIBYTE)),
    line('memory', 'resident memory', 'MiB', ({ rss }) => rounded(rss / MEBIBYTE)),
    line('handles', 'handles', 'number', ({ handles }) => handles),
    ...(sizes.length === 0 ? [] : [sizePlot(store, sizes)]),
  ]
}

function sizePlot(store: string, sizes: readonly SizeSample[]): Plot {
  return {
    ...({ kind: 'lines', id: 'size', unit: 'MB', x: 'due times' } as const),
    title: `Soak on ${store}: size of the store by the number of due times`,
    note: 'Records of two days are kept, so that the size grows with the due times.',
    lines: [{ label: store, points: thinned(sizes).map(({ due, bytes }) => [due, rounded(bytes / 1e6)] as const) }],
  }
}

function thinned<One>(all: readonly One[]): readonly One[] {
  const step = Math.ceil(all.length / MOST_POINTS)
  return all.filter((_, index) => index % step === 0)
}

function minute(seconds: number): number {
  return rounded(seconds / 60)
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
