import { trigger } from '../trigger/from-data.ts'
import { counted } from '../words.ts'
import type { DeclaredJob } from './job.ts'
import type { StopSignal } from './signals.ts'

/** So many names are repeated in a line. */
const NAMED = 3

interface Started {
  readonly jobs: Iterable<Pick<DeclaredJob<never>, 'name' | 'definition'>>
  /** Instead of how many jobs there are. */
  readonly purpose: string | null
  readonly store: string
  readonly instance: string
  readonly now: number
}

/** `Started: 2 jobs, next report at 2027-01-01T03:00:00.000Z (in 4 h). Store sqlite:./cronce.db, instance 8f2….` */
export function startedLine({ jobs, purpose, store, instance, now }: Started): string {
  const declared = [...jobs]
  const next = declared
    .map(({ name, definition }) => ({ name, at: nextOf(definition, now) }))
    .reduce<{ name: string; at: number } | null>(
      (first, { name, at }) => (at !== null && (first === null || at < first.at) ? { name, at } : first),
      null,
    )
  const due =
    next === null ? '' : `, next ${next.name} at ${new Date(next.at).toISOString()} (${inWords(next.at - now)})`
  return `Started: ${purpose ?? counted(declared.length, 'job')}${due}. Store ${store}, instance ${instance}.`
}

/** As the code declares it: a pause, which the store knows, is not looked up for a line. */
function nextOf({ trigger: data, start, end }: DeclaredJob<never>['definition'], now: number): number | null {
  if (data === null) return null
  const from = start === null || start <= now ? now : start - 1
  const at = trigger(data).next(from)
  return at === null || (end !== null && at >= end) ? null : at
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

function inWords(ms: number): string {
  const [size, unit] = UNITS.find(([unitMs]) => ms >= unitMs) ?? UNITS[3]
  return `in ${Math.round(ms / size)} ${unit}`
}

interface Stopping {
  readonly drainMs: number
  /** What told the process to stop; `null`: its own code did. */
  readonly signal: StopSignal | null
  /** Whether there is a keyboard. */
  readonly isTerminal: boolean
}

/** `Stopping: 1 run may finish within 30 s (billing). Press Ctrl-C again to stop now.` `null`: nothing is waited for. */
export function stoppingLine(jobs: readonly string[], { drainMs, signal, isTerminal }: Stopping): string | null {
  if (jobs.length === 0) return null
  const names = [...new Set(jobs)]
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  const within = drainMs < 1_000 ? `${drainMs} ms` : `${Math.round(drainMs / 1_000)} s`
  const again = signal === 'SIGINT' && isTerminal ? 'Press Ctrl-C' : `Send ${signal}`
  return (
    `Stopping: ${counted(jobs.length, 'run')} may finish within ${within} (${names.slice(0, NAMED).join(', ')}${more}).` +
    (signal === null ? '' : ` ${again} again to stop now.`)
  )
}
