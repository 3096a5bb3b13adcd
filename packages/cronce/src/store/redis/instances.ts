import type { InstanceRecord, InstanceState } from '../../model/instance.ts'
import type { Beat, HeldRun } from '../store.ts'
import { decodeName, encodeName } from './keys.ts'
import { readRun } from './records.ts'

/** What the script wants of a beat, up to whether it is news. */
export function beatValues({ instance, join, leaseMs, settled }: Beat): string[] {
  const { id, state, ...described } = instance
  return [
    encodeName(id),
    state,
    join ? '1' : '0',
    String(leaseMs),
    settled === undefined ? '' : String(settled),
    JSON.stringify(described),
    encodeName(instance.app),
  ]
}

export interface BeatLines {
  readonly alive: boolean
  readonly bases: string
  readonly appVersion: number
  readonly prunable: boolean
  readonly instances: readonly InstanceRecord[]
  /** Those of them that hold runs. */
  readonly busy: readonly string[]
  readonly held: readonly HeldRun[]
  readonly orphans: readonly string[]
}

export function readBeat([alive, bases, appVersion, prunable, ...rest]: readonly string[]): BeatLines {
  return {
    alive: alive === '1',
    bases: bases!,
    appVersion: Number(appVersion),
    prunable: prunable === '1',
    instances: readInstances(rest),
    busy: linesOf(rest, 'i').filter(isBusy).map(nameOf),
    held: linesOf(rest, 'h').flatMap(heldOf),
    orphans: linesOf(rest, 'o').map(decodeName).sort(),
  }
}

export function readInstances(lines: readonly string[]): InstanceRecord[] {
  return linesOf(lines, 'i')
    .map(instanceOf)
    .sort((one, other) => (one.id < other.id ? -1 : 1))
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
