import { profileTables } from '../shared/profile-tables.ts'
import { grouped, table } from '../shared/table.ts'
import type { History } from './history-plan.ts'
import type { Breakdown } from './profile-plan.ts'
import type { TableUse } from './readings.ts'

/** After a burst: the state of the rows. */
export function tablesTable(tables: readonly TableUse[]): string {
  return table(
    ['table', 'inserted', 'updated', 'HOT', 'deleted', 'kB'],
    tables.map(({ table: name, inserted, updated, hot, deleted, bytes }) => [
      `\`${name}\``,
      grouped(inserted),
      grouped(updated),
      updated === 0 ? '-' : `${((hot / updated) * 100).toFixed(1)} %`,
      grouped(deleted),
      grouped(bytes / 1_000),
    ]),
  )
}

/** Beside few records and beside many: each question of a reader, and each statement of a fire. */
export function historyText(all: readonly History[]): string {
  const sizes = all.map(({ schedules, records }) => `${grouped(schedules)} schedules, ${grouped(records)} records`)
  const questions = all[0]!.reads.map(({ question }, index) => [
    question,
    ...all.flatMap(({ reads }) => [reads[index]!.p50Ms.toFixed(1), reads[index]!.p99Ms.toFixed(1)]),
  ])
  const statements = all[0]!.statements.slice(0, 4).map(({ text }) => [
    shortened(text),
    ...all.map((history) => {
      const found = history.statements.find((one) => one.text === text)
      return found === undefined ? '-' : (((found.planMs + found.execMs) * 1000) / history.fires).toFixed(1)
    }),
  ])
  return [
    table(['ms', ...sizes.flatMap((size) => [`${size}: p50`, 'p99'])], questions),
    `Then ${grouped(all[0]!.fires)} fires due at one instant, µs in the server per fire; the plans were made while the tables were empty:`,
    table(['statement', ...sizes], statements),
    `On disk: ${all.map(({ diskBytes }) => `${grouped(diskBytes / 1_000_000)} MB`).join(', ')}.`,
  ].join('\n\n')
}

const STATEMENTS = 8
const TEXT = 50

export function breakdownText({ rush, statements, profile }: Breakdown): string {
  const { count, effort } = rush
  const us = (ms: number) => grouped((ms * 1000) / count)
  const intro =
    `One warm process, ${grouped(count)} due at one instant, while sampling. CPU per fire: ` +
    `${grouped(effort.cpuMs * 1000)} µs in the server, ${grouped(effort.clientCpuMs * 1000)} µs in the process, ` +
    `of which ${grouped(effort.clientMainMs * 1000)} µs are the main thread's.`
  const byStatement = table(
    ['statement', 'calls', 'ms per call', 'of it planning', 'µs per fire', 'WAL bytes per fire'],
    statements
      .slice(0, STATEMENTS)
      .map(({ text, calls, planMs, execMs, walBytes }) => [
        shortened(text),
        grouped(calls),
        ((planMs + execMs) / calls).toFixed(2),
        (planMs / calls).toFixed(2),
        us(planMs + execMs),
        grouped(walBytes / count),
      ]),
  )
  return [intro, byStatement, ...profileTables(profile, effort.clientMainMs)].join('\n\n')
}

/** The functions of the store have descriptive names; other statements are truncated. */
export function shortened(text: string): string {
  const called = /^select "?\w+"?\._(\w+)\(/.exec(text)?.[1]
  if (called !== undefined) return `\`${called}\``
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim()
  return `\`${line.length > TEXT ? `${line.slice(0, TEXT)}…` : line}\``
}
