import type { InstanceRecord, InstanceState } from '../../model/instance.ts'
import { type Beat, ENDED_LOOKED, ENDED_SHOWN, type HeldRun, type InstanceQuery, type Store } from '../store.ts'
import { decodeName, encodeName } from './keys.ts'
import type { Script } from './link.ts'
import type { Answer } from './moment.ts'
import { readRun } from './records.ts'
import { FIND_INSTANCES, INSTANCES } from './scripts/instances.ts'

/** What the script wants of a beat, up to whether it is news. */
export function beatValues({ instance, join, leaseMs, settled, sequence }: Beat): string[] {
  const { id, state, ...described } = instance
  return [
    encodeName(id),
    state,
    join ? '1' : '0',
    String(leaseMs),
    settled === undefined ? '' : String(settled),
    JSON.stringify(described),
    encodeName(instance.app),
    sequence === undefined ? '' : String(sequence.number),
    sequence === undefined ? '' : String(sequence.after),
  ]
}

export interface BeatLines {
  readonly alive: boolean
  readonly number: number | null
  readonly bases: string
  readonly appVersion: number
  readonly prunable: boolean
  readonly instances: readonly InstanceRecord[]
  /** Those of them that hold runs. */
  readonly busy: readonly string[]
  readonly held: readonly HeldRun[]
  readonly orphans: readonly string[]
}

export function readBeat([alive, number, bases, appVersion, prunable, ...rest]: readonly string[]): BeatLines {
  return {
    alive: alive === '1',
    number: number === '' ? null : Number(number),
    bases: bases!,
    appVersion: Number(appVersion),
    prunable: prunable === '1',
    instances: readInstances(rest),
    busy: linesOf(rest, 'i').filter(isBusy).map(nameOf),
    held: linesOf(rest, 'h').flatMap(heldOf),
    orphans: linesOf(rest, 'o').map(decodeName).sort(),
  }
}

export type AskScript = (script: Script, args: readonly string[]) => Promise<Answer>

/** So many in one script: nobody else is served meanwhile. */
const BITE = 500

export async function listInstances(
  ask: AskScript,
  { ids, app, ended = ENDED_SHOWN }: InstanceQuery = {},
): Promise<Awaited<ReturnType<Store['listInstances']>>> {
  if (ids !== undefined) {
    const { now, lines } = await ask(FIND_INSTANCES, [...new Set(ids)].map(encodeName))
    return { now, instances: readInstances(lines) }
  }
  const found = new Map<string, InstanceRecord>()
  let idle = 0
  for (let cursor = ''; ; ) {
    // Of an app's there may be few among many: pages are as long as they may be.
    const { now, lines } = await ask(INSTANCES, [
      cursor,
      String(app === undefined ? Math.min(ended - idle, BITE) : BITE),
    ])
    const [next = '', ...rows] = lines
    for (const row of linesOf(rows, 'i')) {
      const instance = instanceOf(row)
      if (app !== undefined && instance.app !== app) continue
      if (isOver(instance) && !isBusy(row) && ++idle > ended) continue
      found.set(instance.id, instance)
    }
    if (next === '' || idle >= ended || Number(next) >= ENDED_LOOKED) return { now, instances: inOrder(found.values()) }
    cursor = next
  }
}

function isOver({ state }: InstanceRecord): boolean {
  return state === 'left' || state === 'dead'
}

function inOrder(instances: Iterable<InstanceRecord>): InstanceRecord[] {
  return [...instances].sort((one, other) => (one.id < other.id ? -1 : 1))
}

function readInstances(lines: readonly string[]): InstanceRecord[] {
  return inOrder(linesOf(lines, 'i').map(instanceOf))
}

function linesOf(lines: readonly string[], kind: string): string[] {
  return lines.filter((line) => line[0] === kind).map((line) => line.slice(1))
}

function instanceOf(line: string): InstanceRecord {
  const [id, state, drain, renewals, renewedAt, startedAt, expired, _busy, record] = line.split('\t') as string[]
  return {
    ...(JSON.parse(record!) as Omit<Beat['instance'], 'id' | 'state'>),
    id: decodeName(id!),
    state: state as InstanceState,
    startedAt: Number(startedAt),
    renewals: Number(renewals),
    renewedAt: Number(renewedAt),
    expired: expired === '1',
    drain: drain === '1',
  }
}

function isBusy(line: string): boolean {
  return line.split('\t')[7] === '1'
}

function nameOf(line: string): string {
  return decodeName(line.slice(0, line.indexOf('\t')))
}

function heldOf(line: string): HeldRun[] {
  const [schedule, token, record] = line.split('\t') as [string, string, string]
  const run = readRun(decodeName(schedule), token, record)
  return run === null ? [] : [{ schedule: run.schedule, token, request: run.request, cancel: run.cancel }]
}
