import type { Change } from '../../model/change.ts'
import type { EndedRun, FireKey, HistoryRecord } from '../../model/record.ts'
import { isRunning, type RunningFire, type ScheduleState } from '../../model/schedule.ts'
import { hourNumberOf, reasonCodeOf, writeLine } from './history-line.ts'
import { encodeName, whole } from './keys.ts'
import { isCommon, type KnownLine, writeState } from './state-line.ts'

// Most changes are of two kinds: a schedule without open fires starts its next one, and that one ends. The line of the schedule
// is known from the previous read, so the next line can be built here, and the scripts only compare and store. See lua/plain.lua.

export interface PlainClaim {
  readonly args: readonly string[]
  readonly instance: string
  /** The new line. */
  readonly next: KnownLine
}

export interface PlainSettlement {
  readonly args: readonly string[]
  readonly instance: string
  /** A schedule without open fires is read again before its next change. */
  readonly next: null
  /** The times in the line of history. */
  readonly earliest: number
  readonly latest: number
}

/** `null`: the change is not of this kind. */
export function plainClaim(change: Change, known: KnownLine): PlainClaim | null {
  const { state } = change
  const created = onlyCreated(change)
  const fire = state === null ? null : onlyRunning(state)
  if (state === null || created === null || fire === null) return null
  if (known.state.open.length > 0 || !isCommon(known.state)) return null
  const isIt = created.nonce === '' && fire.nonce === '' && created.dueAt === fire.dueAt && fire.run.slots === undefined
  const { member, settings, version, first, mark, expires } = known
  if (!isIt || version !== change.version || !isAbove(created.dueAt, mark)) return null
  const next = { member, settings, version: version + 1, first, mark: whole(created.dueAt), expires, state }
  const args = [member, headOf(known), writeNext(next), wakeArg(known, state.wakeAt)]
  return { args, instance: fire.run.instance, next }
}

/** The required prefix of the line: the rest is equal if the prefix is. */
function headOf({ settings, version, first, mark, expires }: KnownLine): string {
  return `${version} ${settings.edition} ${first} ${mark} ${expires} `
}

function writeNext({ settings, version, first, mark, expires, state }: KnownLine): string {
  const { tokens, ended } = state
  return [version, settings.edition, first, mark, expires, whole(tokens), whole(ended), writeState(state)].join(' ')
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

export function plainSettlement(change: Change, known: KnownLine): PlainSettlement | null {
  const { state } = change
  const ended = onlyEnded(change)
  if (state === null || ended === null || state.open.length > 0) return null
  const open = isCommon(known.state) ? onlyRunning(known.state) : null
  if (open === null || !isEndOf(open, ended) || !isNextEnd(known, change, ended)) return null
  const packed = writeLine(ended)
  if (packed.body !== '') return null
  const { member, expires } = known
  const { dueAt, endedAt } = ended
  const isFirst = expires === '-'
  const next = {
    ...known,
    version: known.version + 1,
    first: known.first === '0' ? whole(ended.number) : known.first,
    expires: isFirst ? whole(ended.expiresAt) : expires,
    state,
  }
  const args = [
    member,
    headOf(known),
    writeNext(next),
    wakeArg(known, state.wakeAt),
    whole(ended.number),
    packed.line,
    `${hourNumberOf(dueAt)} ${reasonCodeOf(ended.ending.reason)}`,
    isFirst ? next.expires : '',
  ]
  const times = { earliest: Math.min(dueAt, endedAt), latest: Math.max(dueAt, endedAt) }
  return { args, instance: ended.run.instance, next: null, ...times }
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
function isEndOf({ dueAt, nonce, run }: RunningFire, ended: EndOfRun): boolean {
  return dueAt === ended.dueAt && run.token === ended.run.token && nonce === '' && run.slots === undefined
}

/** Whether the end is the next one of the schedule, and the change was decided on this version of it. */
function isNextEnd({ version, mark, expires, state }: KnownLine, change: Change, ended: HistoryRecord): boolean {
  if (version !== change.version || ended.number !== state.ended + 1) return false
  if (change.state?.ended !== ended.number) return false
  return !isAbove(ended.dueAt, mark) && (expires === '-' || ended.expiresAt >= Number(expires))
}

/** Empty if the wake time is unchanged. */
function wakeArg({ state }: KnownLine, wakeAt: number | null): string {
  if (state.wakeAt === wakeAt) return ''
  return wakeAt === null ? '-' : whole(wakeAt)
}

function hasMore({ reopens, rewrites, limits, trim, activity }: Change): boolean {
  const isLonger = reopens.length > 0 || rewrites.length > 0 || limits.length > 0
  return isLonger || trim !== null || activity !== undefined
}

function isAbove(dueAt: number, mark: string): boolean {
  return mark === '-' || dueAt > Number(mark)
}

/** A change with the index of its result. */
export interface Placed<Item> {
  readonly plain: Item
  readonly job: string
  readonly place: number
}

/** Appends the changes in the form that the scripts take, by job and shard. Returns them in that order. */
export function pushGroups<Item extends PlainClaim | PlainSettlement>(
  args: string[],
  changes: readonly Placed<Item>[],
): readonly Placed<Item>[] {
  const sorted: Placed<Item>[] = []
  for (const [job, ofJob] of Map.groupBy(changes, (change) => change.job)) {
    const name = encodeName(job)
    for (const [shard, group] of Map.groupBy(ofJob, ({ plain }) => plain.args[0]![0]!)) {
      args.push(name, shard, String(group.length))
      for (const change of group) {
        for (const arg of change.plain.args) args.push(arg)
        sorted.push(change)
      }
    }
  }
  return sorted
}
