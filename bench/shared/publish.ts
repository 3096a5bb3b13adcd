import { resolve } from 'node:path'
import type { Plot } from '../../scripts/reports/plot.ts'
import {
  type Comparison,
  describeMachine,
  type Measured,
  type Report,
  ROOT,
  sectionsOf,
  writeReport,
} from '../../scripts/reports/report.ts'
import type { Bar } from './bars.ts'
import { median } from './statistics.ts'

export interface Published {
  readonly name: string
  readonly isQuick: boolean
  readonly measured: readonly Measured[]
  readonly covers: readonly string[]
  readonly markdown: string
  readonly bars: readonly Pick<Bar, 'what' | 'measured'>[]
  readonly comparisons?: readonly Comparison[]
  /** `null`: what it would show was not measured. */
  readonly plots?: readonly (Plot | null)[]
}

/** What every fire passes through, on every store. */
export const ENGINE_PATHS = [
  'packages/cronce/src/engine',
  'packages/cronce/src/policy',
  'packages/cronce/src/run',
  'bench/shared',
] as const

/** Writes docs/reports/NAME.json, if that is wanted. */
export function publish(folder: string | undefined, published: Published): void {
  if (folder === undefined) return
  const { name, isQuick, measured, covers, markdown, bars, comparisons = [], plots = [] } = published
  const report: Report = {
    name,
    command: `npm run bench:${name}${isQuick ? ' -- --quick' : ''}`,
    isQuick,
    machine: describeMachine(),
    measured,
    covers,
    sections: sectionsOf(markdown),
    figures: Object.fromEntries(bars.map(({ what, measured: value }) => [what, value])),
    comparisons,
    plots: plots.filter((plot) => plot !== null),
  }
  writeReport(report, resolve(ROOT, folder))
}

interface Round {
  readonly firesPerSecond: number
  readonly effort: { readonly cpuMs: number; readonly clientCpuMs: number }
}

export interface Contender {
  readonly name: string
  readonly rounds: readonly Round[]
}

export function compareRates(what: string, ours: Contender, theirs: Contender): Comparison {
  const [our, their] = [ours, theirs].map(({ rounds }) => median(rounds.map(({ firesPerSecond }) => firesPerSecond)))
  return {
    what,
    peer: theirs.name,
    ratio: our! / their!,
    isMoreBetter: true,
    cpu: [cpuOf(ours), cpuOf(theirs)],
    absolute: [`${whole(our!)}/s`, `${whole(their!)}/s`],
  }
}

function cpuOf({ rounds }: Contender): number {
  return median(rounds.map(({ effort }) => (effort.cpuMs + effort.clientCpuMs) * 1_000))
}

interface LateContender {
  readonly name: string
  readonly p99Ms: number
  readonly effort: { readonly cpuMs: number; readonly clientCpuMs: number }
}

export function compareLateness(what: string, ours: LateContender, theirs: LateContender): Comparison {
  const cpu = ({ effort }: LateContender): number => (effort.cpuMs + effort.clientCpuMs) * 1_000
  return {
    what,
    peer: theirs.name,
    ratio: ours.p99Ms / theirs.p99Ms,
    isMoreBetter: false,
    cpu: [cpu(ours), cpu(theirs)],
    absolute: [`${whole(ours.p99Ms)} ms`, `${whole(theirs.p99Ms)} ms`],
  }
}

export function throughputPlot(store: string, contenders: readonly (Contender & { group: string })[]): Plot | null {
  if (contenders.length === 0) return null
  return {
    kind: 'bars',
    id: 'throughput',
    title: `${store}: fires a second`,
    note: 'Median of the rounds, of processes that have done as much before, on the same machine in turn.',
    unit: 'fires/s, more is better',
    bars: contenders.map(({ name, group, rounds }) => ({
      group,
      label: name,
      value: Math.round(median(rounds.map(({ firesPerSecond }) => firesPerSecond))),
    })),
  }
}

/** The share of fires that started within so many milliseconds, turned on its side: lateness by share. */
export function latenessPlot(
  store: string,
  all: readonly { readonly name: string; readonly quantilesMs?: readonly (readonly [number, number])[] }[],
): Plot | null {
  const lines = all.flatMap(({ name, quantilesMs }) =>
    quantilesMs === undefined || quantilesMs.length === 0 ? [] : [{ label: name, points: quantilesMs }],
  )
  if (lines.length === 0) return null
  return {
    kind: 'lines',
    id: 'lateness',
    title: `${store}: how late fires start, 1,000 due every second on three processes`,
    note: 'For each share of the fires, the lateness that they do not exceed.',
    unit: 'ms late, less is better',
    x: 'percent of all fires',
    lines,
  }
}

export function failoverPlot(store: string, eachMs: readonly number[]): Plot | null {
  if (eachMs.length === 0) return null
  return {
    kind: 'bars',
    id: 'failover',
    title: `${store}: from kill -9 until another process runs the fire again`,
    note: 'Each bar is one fresh fleet of three processes.',
    unit: 'ms, less is better',
    bars: eachMs.map((value, index) => ({ group: 'cronce', label: `round ${index + 1}`, value: Math.round(value) })),
  }
}

export function schedulesPlot(
  store: string,
  scales: readonly { readonly schedules: number; readonly lookP50Ms: number; readonly lookP99Ms: number }[],
): Plot | null {
  if (scales.length < 2) return null
  const line = (label: string, of: 'lookP50Ms' | 'lookP99Ms') => ({
    label,
    points: scales.map((scale) => [scale.schedules, scale[of]] as const),
  })
  return {
    kind: 'lines',
    id: 'schedules',
    title: `${store}: one look for what is due, by the number of schedules`,
    note: 'Half and 99 % of the looks take at most this long.',
    unit: 'ms, less is better',
    x: 'schedules',
    isLogX: true,
    lines: [line('p50', 'lookP50Ms'), line('p99', 'lookP99Ms')],
  }
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
