import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  Bounds,
  Effect,
  Entry,
  Fault,
  History,
  Ledger,
  RunOfFire,
  Time,
} from '../../packages/checker/src/history.ts'
import { starvationIn } from '../../packages/checker/src/starvation.ts'
import type { StepView } from '../../packages/cronce/src/client/views.ts'
import type { EffectRow, Line } from './order.ts'

/** All that is known when it is over. */
export interface Evidence {
  readonly folder: string
  readonly epoch: number
  readonly bounds: Bounds
  /** The controller's own. */
  readonly entries: readonly Entry[]
  readonly rows: readonly EffectRow[]
  /** Steps that are on record as done. */
  readonly steps: readonly StepView[]
  readonly reads: readonly Ledger[]
}

export function buildHistory({ folder, epoch, bounds, entries, rows, steps, reads }: Evidence): History {
  const all = [...entries]
  const done = new Set(steps.map((step) => `${runKey(step)} ${step.step}`))
  const paid = new Set(rows.map(runKey))
  for (const { node, at, ...run } of rows) all.push(effect(node, at, run, 'transaction', '', true))
  for (const [node, lines] of readWitnesses(folder)) all.push(...translate(node, lines, entries, paid, done))
  return { format: 1, epoch, bounds, entries: all.sort((one, other) => one.at - other.at), reads }
}

/** Faults that processes have reported so far from inside. */
export function struckIn(folder: string): string[] {
  return readWitnesses(folder).flatMap(([, lines]) =>
    lines.flatMap((line) => (line.kind === 'struck' ? [line.fault] : [])),
  )
}

/** Whether this process is in the middle of something. */
export function isRunning(folder: string, node: string): boolean {
  const lines = readWitnesses(folder).find(([name]) => name === node)?.[1] ?? []
  const ended = new Set(lines.flatMap((line) => (line.kind === 'finish' ? [runKey(line)] : [])))
  return lines.some((line) => line.kind === 'start' && !ended.has(runKey(line)))
}

/** How many processes have begun a run. */
export function workersIn(folder: string): number {
  return readWitnesses(folder).filter(([, lines]) => lines.some(({ kind }) => kind === 'start')).length
}

/** The process that wrote into the user's table last. It may write again. */
export function lastWriter(folder: string): string | null {
  let last: { readonly node: string | null; readonly at: Time } = { node: null, at: -1 }
  for (const [node, lines] of readWitnesses(folder)) {
    const at = lines.findLast(({ kind }) => kind === 'writing')?.at ?? -1
    if (at > last.at) last = { node, at }
  }
  return last.node
}

/** Fires that were begun a second time, by `fireKey`. */
export function restartedIn(folder: string): string[] {
  return readWitnesses(folder).flatMap(([, lines]) =>
    lines.flatMap((line) => (line.kind === 'start' && line.attempt > 1 ? [fireKey(line)] : [])),
  )
}

export function fireKey({ schedule, dueAt, nonce }: Pick<RunOfFire, 'schedule' | 'dueAt' | 'nonce'>): string {
  return `${schedule} ${dueAt} ${nonce}`
}

/** When a process was last struck or starved, or the store was; `entries` are the controller's own. */
export function lastTrouble(folder: string, entries: readonly Entry[], bounds: Bounds, now: Time): Time {
  const lines = readWitnesses(folder).flatMap(([, own]) => own)
  const strikes = lines.flatMap((line) => (line.kind === 'struck' || line.kind === 'over' ? [line.at] : []))
  const vouched = lines.filter((line) => line.kind === 'healthy' || line.kind === 'node')
  const starved = starvationIn([...entries, ...vouched], bounds, now).map(({ until }) => until)
  return [...strikes, ...starved].reduce((latest, end) => Math.max(latest, end), 0)
}

function readWitnesses(folder: string): [node: string, lines: Line[]][] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.witness'))
    .map((name) => {
      // Whose last line has no end yet is still being written to.
      const lines = readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1)
      return [name.slice(0, -'.witness'.length), lines.map((line) => JSON.parse(line) as Line)]
    })
}

function translate(
  node: string,
  lines: readonly Line[],
  entries: readonly Entry[],
  paid: ReadonlySet<string>,
  done: ReadonlySet<string>,
): Entry[] {
  const overAt = new Map(lines.flatMap((line) => (line.kind === 'over' ? [[line.id, line.at]] : [])))
  const kept = new Set(lines.flatMap((line) => (line.kind === 'kept' ? [`${runKey(line)} ${line.step}`] : [])))
  const ended = entries.find((entry) => entry.kind === 'node' && entry.node === node && entry.what === 'ended')
  return lines.flatMap((line): Entry[] => {
    switch (line.kind) {
      case 'over':
      case 'kept':
        return []
      case 'struck': {
        const until = overAt.get(line.id) ?? ended?.at ?? line.at
        const fault: Fault = { kind: 'fault', at: line.at, until, fault: line.fault, node: line.isForAll ? null : node }
        return [fault]
      }
      case 'writing': {
        // The table shows which effects were written; only effects that were certainly not written come from here.
        const { kind, at, ...run } = line
        return paid.has(runKey(run)) ? [] : [effect(node, at, run, 'transaction', '', false)]
      }
      case 'worked': {
        const { kind, at, step, ...run } = line
        const isDone = kept.has(`${runKey(run)} ${step}`) || done.has(`${runKey(run)} ${step}`)
        return [effect(node, at, run, 'step', step, isDone)]
      }
      default:
        return [line]
    }
  })
}

/** Tokens are unique in a schedule. */
function runKey({ schedule, token }: Pick<RunOfFire, 'schedule' | 'token'>): string {
  return `${schedule} ${token}`
}

function effect(
  node: string,
  at: number,
  { schedule, dueAt, nonce, attempt, token }: RunOfFire,
  sink: Effect['sink'],
  key: string,
  accepted: boolean,
): Effect {
  return { kind: 'effect', at, node, sink, key, accepted, schedule, dueAt, nonce, attempt, token }
}
