import { resolve } from 'node:path'
import { table } from '../../bench/shared/table.ts'
import { describeMachine, measuredNow, type Report, ROOT, writeReport } from '../../scripts/reports/report.ts'
import { LATE_MS, type Tally } from './ledger.ts'
import { DESCRIPTIONS, type System } from './order.ts'

export interface PeersResult {
  readonly seed: number
  readonly minutes: number
  readonly schedules: number
  readonly processes: number
  /** Times of each blow. */
  readonly dealt: Readonly<Record<string, number>>
  readonly rows: readonly PeerRow[]
}

export interface PeerRow {
  readonly system: System
  readonly version: string
  /** Processes that ended by themselves. */
  readonly exits: number
  readonly tally: Tally
}

export function resultTable({ rows }: PeersResult): string {
  const head = [
    ...['', 'version', 'due times', 'duplicates', 'of so many due times', 'lost', 'refused by token', 'cut off'],
    ...[`later than ${LATE_MS / 1_000} s`, 'early', 'p50 ms late', 'p99', 'processes that ended'],
  ]
  const whole = (value: number): string => (Number.isNaN(value) ? '-' : Math.round(value).toLocaleString('en-US'))
  return table(
    head,
    rows.map(({ system, version, exits, tally }) => [
      ...[DESCRIPTIONS[system].name, version],
      ...[
        tally.fires,
        tally.duplicates,
        tally.doubled,
        tally.lost,
        tally.refused,
        tally.cutOff,
        tally.late,
        tally.early,
      ]
        .concat([tally.p50Ms, tally.p99Ms, exits])
        .map(whole),
    ]),
  )
}

/** A run of less than this many minutes has not dealt each blow a few times. */
const COMPLETE_MINUTES = 40

export function publishPeers(result: PeersResult, folder: string): void {
  const { seed, minutes, schedules, processes, dealt, rows } = result
  const isQuick = minutes < COMPLETE_MINUTES
  const report: Report = {
    name: 'peers',
    command: `npm run verify:peers -- --seed ${seed} --minutes ${minutes}`,
    isQuick,
    machine: describeMachine(),
    measured: [measuredNow('all')],
    covers: [
      ...['packages/cronce/src/engine', 'packages/cronce/src/policy', 'packages/cronce/src/run'],
      ...['packages/cronce/src/store/postgres', 'packages/cronce/src/store/redis', 'verification/peers'],
    ],
    sections: [
      {
        title: 'Result',
        lines: [
          `${schedules} schedules, each due every minute for ${minutes} minutes, on ${processes} processes of each system.`,
          '',
          ...resultTable(result).split('\n'),
        ],
      },
      {
        title: 'Faults',
        lines: table(
          ['fault', 'times'],
          Object.entries(dealt).map(([name, times]) => [name, String(times)]),
        ).split('\n'),
      },
      {
        title: 'Settings',
        lines: table(
          ['', 'settings'],
          rows.map(({ system }) => [DESCRIPTIONS[system].name, DESCRIPTIONS[system].settings]),
        ).split('\n'),
      },
    ],
    figures: Object.fromEntries(
      rows.flatMap(({ system, tally: { duplicates, lost } }) => [
        [`${system}: duplicates`, String(duplicates)],
        [`${system}: lost`, String(lost)],
      ]),
    ),
    comparisons: [],
    plots: [
      {
        kind: 'bars',
        id: 'outcomes',
        title: 'Not executed exactly once, under the same faults',
        note: 'Duplicates are attempts beyond the first that did their work to the end; lost are due times without one.',
        unit: `of ${rows[0]?.tally.fires ?? 0} due times, less is better`,
        bars: rows.flatMap(({ system, tally }) => [
          { group: DESCRIPTIONS[system].name, label: 'duplicates', value: tally.duplicates },
          { group: DESCRIPTIONS[system].name, label: 'lost', value: tally.lost },
        ]),
      },
    ],
  }
  writeReport(report, resolve(ROOT, folder))
}
