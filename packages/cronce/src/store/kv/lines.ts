import type { FireKey, FireRecord, HistoryRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { viewEndedFire, viewOpenFire } from '../../model/views.ts'
import type { Keys } from './keys.ts'
import { listsOf } from './keys.ts'
import type { Writes } from './writes.ts'

/** A line as its key holds it. `reopened`: it was written again only because another round of its fire opened. */
interface StoredLine extends HistoryRecord {
  readonly reopened?: true
}

export function readLine(text: string): HistoryRecord {
  const { reopened: _, ...line } = JSON.parse(text) as StoredLine
  return line
}

/** Whether this write of a line was an end. */
export function isEnd(text: string): boolean {
  return (JSON.parse(text) as StoredLine).reopened !== true
}

export function putLine(keys: Keys, writes: Writes, line: HistoryRecord): void {
  writeLine(keys, writes, line)
  if (line.isFinal) writes.put(keys.expiring(line), '')
}

/** Its fire is open again. */
export function reopenLine(keys: Keys, writes: Writes, line: HistoryRecord): void {
  writes.delete(keys.expiring(line))
  writeLine(keys, writes, { ...line, isFinal: false, reopened: true })
}

function writeLine(keys: Keys, writes: Writes, line: StoredLine): void {
  writes.put(keys.line(line), JSON.stringify(line))
  writes.put(keys.numbered(line.schedule, line.number), JSON.stringify([line.dueAt, line.nonce]))
  for (const list of listsOf(line)) writes.put(keys.listed(list, line), '')
}

export function deleteLine(keys: Keys, writes: Writes, line: HistoryRecord): void {
  writes.delete(keys.line(line))
  writes.delete(keys.numbered(line.schedule, line.number))
  for (const list of listsOf(line)) writes.delete(keys.listed(list, line))
  if (line.isFinal) writes.delete(keys.expiring(line))
}

/** As it is listed, or as its last line says if it neither ended nor is open. `null`: it is not on record. */
export function viewFire(
  fire: FireKey,
  state: ScheduleState | undefined,
  lines: readonly HistoryRecord[],
): FireRecord | null {
  const open = state?.open.find(({ dueAt, nonce }) => dueAt === fire.dueAt && nonce === fire.nonce)
  if (state !== undefined && open !== undefined) return viewOpenFire(state, open)
  const last = lines.findLast(({ isFinal }) => isFinal) ?? lines.at(-1)
  return last === undefined ? null : viewEndedFire(last)
}
