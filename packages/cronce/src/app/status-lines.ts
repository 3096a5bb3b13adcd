import type { ScheduleState } from '../model/schedule.ts'
import { counted } from '../words.ts'
import type { DeclaredJob } from './job.ts'
import type { StopSignal } from './signals.ts'

/** How many names a line lists. */
const NAMED = 3

interface Started {
  readonly jobs: Iterable<Pick<DeclaredJob<never>, 'name' | 'definition'>>
  /** Replaces the number of jobs in the line. */
  readonly purpose: string | null
  /** The schedules as stored: a declaration may have been refused, and a schedule may be paused. */
  readonly schedules: readonly Pick<ScheduleState, 'id' | 'nextAt' | 'pause' | 'retiredAt'>[]
  readonly store: string
  readonly instance: string
  readonly now: number
}

/**
 * `Started: 2 jobs, next report at 2027-01-01T03:00:00.000Z (in 4 h), 1 without a schedule (billing). Store sqlite:./cronce.db, instance 8f2….`
 */
export function startedLine({ jobs, purpose, schedules, store, instance, now }: Started): string {
  const declared = [...jobs]
  const [next] = schedules
    .flatMap(({ id, nextAt, pause, retiredAt }) =>
      nextAt === null || pause !== null || retiredAt !== null ? [] : [{ id, at: nextAt }],
    )
    .sort((one, other) => one.at - other.at)
  const due =
    next === undefined ? '' : `, next ${next.id} at ${new Date(next.at).toISOString()} (${inWords(next.at - now)})`
  const manual = declared.filter(({ definition }) => definition.trigger === null).map(({ name }) => name)
  const unscheduled = manual.length === 0 ? '' : `, ${manual.length} without a schedule (${few(manual)})`
  return `Started: ${purpose ?? counted(declared.length, 'job')}${due}${unscheduled}. Store ${store}, instance ${instance}.`
}

function few(names: readonly string[]): string {
  return `${names.slice(0, NAMED).join(', ')}${names.length > NAMED ? ` and ${names.length - NAMED} more` : ''}`
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

function inWords(ms: number): string {
  const [size, unit] = UNITS.find(([unitMs]) => Math.abs(ms) >= unitMs) ?? UNITS[3]
  const count = Math.round(Math.abs(ms) / size)
  return ms < 0 && count > 0 ? `overdue by ${count} ${unit}` : `in ${count} ${unit}`
}

interface Stopping {
  readonly drainMs: number
  /** The signal that stopped the process; `null`: its own code did. */
  readonly signal: StopSignal | null
  /** Whether there is a keyboard. */
  readonly isTerminal: boolean
}

/** `Stopping: 1 run may finish within 30 s (billing). Press Ctrl-C again to stop now.` `null`: nothing is waited for. */
export function stoppingLine(jobs: readonly string[], { drainMs, signal, isTerminal }: Stopping): string | null {
  if (jobs.length === 0) return null
  const names = [...new Set(jobs)]
  const within = drainMs < 1_000 ? `${drainMs} ms` : `${Math.round(drainMs / 1_000)} s`
  const again = signal === 'SIGINT' && isTerminal ? 'Press Ctrl-C' : `Send ${signal}`
  return (
    `Stopping: ${counted(jobs.length, 'run')} may finish within ${within} (${few(names)}).` +
    (signal === null ? '' : ` ${again} again to stop now.`)
  )
}
