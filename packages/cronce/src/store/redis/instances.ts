import type { InstanceRecord, InstanceState } from '../../model/instance.ts'
import { type Beat, ENDED_LOOKED, ENDED_SHOWN, type HeldRun, type InstanceQuery, type Store } from '../store.ts'
import { decodeName, encodeName, scheduleOf } from './keys.ts'
import type { AskScript } from './moment.ts'
import { FIND_INSTANCES, LIST_INSTANCES } from './scripts.ts'
import { readOpen } from './state-line.ts'

/** The arguments of the script for a heartbeat, up to whether it is news. */
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
  /** The instances among them that hold runs. */
  readonly busy: readonly string[]
  readonly held: readonly HeldRun[]
  readonly orphans: readonly string[]
}

export function readBeat(id: string, lines: readonly string[]): BeatLines {
  const [alive, number, bases, appVersion, prunable, ...rest] = lines
  return {
    alive: alive === '1',
    number: number === '' ? null : Number(number),
    bases: bases!,
    appVersion: Number(appVersion),
    prunable: prunable === '1',
    instances: readInstances(rest),
    busy: linesOf(rest, 'i').filter(isBusy).map(nameOf),
    held: linesOf(rest, 'h').flatMap((line) => heldOf(line, id)),
    orphans: linesOf(rest, 'o').map(decodeName).sort(),
  }
}

/** Instances in one script: Redis serves no other client meanwhile. */
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
    // An app's instances may be few among many: pages are as long as allowed.
    const { now, lines } = await ask(LIST_INSTANCES, [
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
  const [id, state, drain, renewals, renewedAt, startedAt, endedAt, expired, _busy, record] = line.split(
    '\t',
  ) as string[]
  return {
    ...(JSON.parse(record!) as Omit<Beat['instance'], 'id' | 'state'>),
    id: decodeName(id!),
    state: state as InstanceState,
    startedAt: Number(startedAt),
    endedAt: endedAt === '' ? null : Number(endedAt),
    renewals: Number(renewals),
    renewedAt: Number(renewedAt),
    expired: expired === '1',
    drain: drain === '1',
  }
}

function isBusy(line: string): boolean {
  return line.split('\t')[8] === '1'
}

function nameOf(line: string): string {
  return decodeName(line.slice(0, line.indexOf('\t')))
}

/** The runs of this instance in a schedule that it is listed for. */
function heldOf(line: string, instance: string): HeldRun[] {
  const tab = line.indexOf('\t')
  const schedule = scheduleOf(line.slice(0, tab))
  return readOpen(line.slice(tab + 1)).flatMap(({ run }) => {
    if (run === null || run.instance !== instance) return []
    const { token, claim, cancel } = run
    return [{ schedule, token, claim, cancel }]
  })
}
