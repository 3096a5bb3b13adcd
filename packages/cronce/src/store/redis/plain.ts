import type { Change } from '../../model/change.ts'
import type { EndedRun, FireKey, HistoryRecord } from '../../model/record.ts'
import { isRunning, type RunningFire, type ScheduleState } from '../../model/schedule.ts'
import { hourNumberOf, reasonCodeOf, writeLine } from './history-line.ts'
import { memberOf, packToken, whole } from './keys.ts'
import { wakeAtOf, writeState } from './state-line.ts'

// Most changes are of two kinds: a schedule without open fires starts its next one, and that one ends. The line of the schedule is known from
// the look before, so the next one can be written here, and the scripts only compare and store. See lua/plain.lua.

interface Plain {
  /** How the line of the schedule must begin. */
  readonly head: string
  /** The line as it becomes. */
  readonly line: string
  readonly args: readonly string[]
}

export type PlainClaim = Plain & { readonly instance: string }

export interface PlainSettlement extends Plain {
  readonly instance: string
  /** Of the times in the line of history. */
  readonly earliest: number
  readonly latest: number
}

/** The beginning of a line: what the scripts keep to themselves (see lua/line.lua), and what tells when the schedule wakes. */
type Head = [
  version: string,
  edition: string,
  first: string,
  mark: string,
  expires: string,
  tokens: string,
  ended: string,
  nextAt: string,
  plannedTo: string,
  wakeAt: string,
]
const HEAD = 10

/** `line`: of the schedule, as far as it is known. `null`: the change is none of the kind. */
export function plainClaim(change: Change, line: string): PlainClaim | null {
  const { state } = change
  const created = onlyCreated(change)
  const fire = state === null ? null : onlyRunning(state)
  // A line of several lines has open fires, or something uncommon.
  if (state === null || created === null || fire === null || line.includes('\n')) return null
  const isIt = created.nonce === '' && fire.nonce === '' && created.dueAt === fire.dueAt && fire.run.slots === undefined
  const numbers = line.split(' ', HEAD) as Head
  const [version, edition, first, mark, expires] = numbers
  if (!isIt || Number(version) !== change.version || !isAbove(created.dueAt, mark)) return null
  const head = `${version} ${edition} ${first} ${mark} ${expires} `
  const start = `${whole(change.version + 1)} ${edition} ${first} ${whole(created.dueAt)} ${expires}`
  const next = `${start} ${whole(state.tokens)} ${whole(state.ended)} ${writeState(state)}`
  const wakeAt = wakeArg(numbers, state.wakeAt)
  return { head, line: next, args: [memberOf(change.id), head, next, wakeAt], instance: fire.run.instance }
}

/** The fire that the change creates, if it creates one and does nothing else to the history. */
function onlyCreated(change: Change): FireKey | null {
  const { creates, history } = change
  const [created] = creates
  return created === undefined || creates.length > 1 || history.length > 0 || hasMore(change) ? null : created
}

/** The open fire of the schedule, if it is the only one, and runs. */
function onlyRunning({ open }: ScheduleState): RunningFire | null {
  const [fire] = open
  return fire === undefined || open.length > 1 || !isRunning(fire) ? null : fire
}

export function plainSettlement(change: Change, line: string): PlainSettlement | null {
  const { state } = change
  const ended = onlyEnded(change)
  if (state === null || ended === null || state.open.length > 0) return null
  const [begin, open, more] = line.split('\n', 3) as [string, string?, string?]
  if (open === undefined || open[0] === '{' || more !== undefined) return null
  const numbers = begin.split(' ', HEAD) as Head
  if (!isEndOf(open, ended) || !isNextEnd(numbers, change, ended)) return null
  const packed = writeLine(ended)
  if (packed.body !== '') return null
  const [version, edition, first, mark, expires] = numbers
  const isFirst = expires === '-'
  const head = `${version} ${edition} ${first} ${mark} ${expires} `
  const goesAt = isFirst ? whole(ended.expiresAt) : expires
  const start = `${whole(change.version + 1)} ${edition} ${first === '0' ? whole(ended.number) : first} ${mark} ${goesAt}`
  const next = `${start} ${whole(state.tokens)} ${whole(state.ended)} ${writeState(state)}`
  const wakeAt = wakeArg(numbers, state.wakeAt)
  const counted = `${hourNumberOf(ended.dueAt)} ${reasonCodeOf(ended.ending.reason)}`
  const args = [
    memberOf(change.id),
    head,
    next,
    wakeAt,
    whole(ended.number),
    packed.line,
    counted,
    isFirst ? goesAt : '',
  ]
  return { head, line: next, args, instance: ended.run.instance, ...timesOf(ended) }
}

type EndOfRun = HistoryRecord & { readonly run: EndedRun }

/** The line that the change adds, if it adds one, about the end of a run and its fire, and does nothing else to the history. */
function onlyEnded(change: Change): EndOfRun | null {
  const { creates, history } = change
  const [ended] = history
  if (ended === undefined || history.length > 1 || creates.length > 0 || hasMore(change)) return null
  const isEnd = ended.isFinal && ended.run !== null && ended.nonce === '' && ended.range === null
  return isEnd ? (ended as EndOfRun) : null
}

/** Whether the open fire of the line is the one that ended. */
function isEndOf(open: string, ended: EndOfRun): boolean {
  const [dueAt, token] = open.split(' ', 2)
  const [, nonce, , slot] = open.split('\t', 4)
  return Number(dueAt) === ended.dueAt && token === packToken(ended.run.token) && nonce === '' && slot === undefined
}

/** Whether the end is the next one of the schedule, and the change was decided on this version of it. */
function isNextEnd([version, , , mark, expires, , last]: Head, change: Change, ended: HistoryRecord): boolean {
  if (Number(version) !== change.version || ended.number !== Number(last) + 1) return false
  if (change.state?.ended !== ended.number) return false
  return !isAbove(ended.dueAt, mark) && (expires === '-' || ended.expiresAt >= Number(expires))
}

/** Empty if the schedule wakes when it did before. */
function wakeArg(numbers: Head, wakeAt: number | null): string {
  if (wakeAtOf(numbers) === wakeAt) return ''
  return wakeAt === null ? '-' : whole(wakeAt)
}

function hasMore({ reopens, rewrites, limits, trim }: Change): boolean {
  return reopens.length > 0 || rewrites.length > 0 || limits.length > 0 || trim !== null
}

function isAbove(dueAt: number, mark: string): boolean {
  return mark === '-' || dueAt > Number(mark)
}

function timesOf({ dueAt, endedAt }: HistoryRecord): { readonly earliest: number; readonly latest: number } {
  return { earliest: Math.min(dueAt, endedAt), latest: Math.max(dueAt, endedAt) }
}

/** A change with the place of its result. */
export interface Placed<Item> {
  readonly plain: Item
  readonly job: string
  readonly place: number
}

/** The changes as the scripts take them, by job and shard; and the places of their results, in that order. */
export function groupsOf<Item extends Plain>(
  changes: readonly Placed<Item>[],
): { readonly args: string[]; readonly places: number[] } {
  const groups = new Map<string, Placed<Item>[]>()
  for (const change of changes) {
    const key = `${change.plain.args[0]![0]}${change.job}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [change])
    else group.push(change)
  }
  const args: string[] = []
  const places: number[] = []
  for (const [key, group] of groups) {
    args.push(key.slice(1), key[0]!, String(group.length))
    for (const { plain, place } of group) {
      for (const arg of plain.args) args.push(arg)
      places.push(place)
    }
  }
  return { args, places }
}
