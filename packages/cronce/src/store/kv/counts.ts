import { COUNTS_KEPT_MS, hourOf } from '../../model/hours.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { HistoryRecord, HourCount } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import type { HourQuery } from '../store.ts'
import type { Context } from './context.ts'
import type { Entry, Group } from './driver.ts'
import { decodeNumber, encodeName, encodeNumber, type Keys } from './keys.ts'
import type { Writes } from './writes.ts'

// How many fires ended how, by the hour. A store without increments counts by writing: the version of a key says how often it was
// written. No key is written twice in one commit, so every change of a commit writes to a key of its own (`place`).

const UP = '+'
const DOWN = '-'
/** The sum of keys that were folded into one. */
const SUM = 's'
/** A range, by its line: the value counts. */
const RANGE = '='

/** Hours that ended this long ago get few further ends, so their keys are folded. */
const FOLD_AFTER_MS = 2 * 3_600_000
const FOLDED_AT_ONCE = 20

/** Counts the ends of one change. */
export class EndCounter {
  readonly #keys: Keys
  readonly #writes: Writes
  readonly #place: number
  #written = 0

  constructor(keys: Keys, writes: Writes, place: number) {
    this.#keys = keys
    this.#writes = writes
    this.#place = place
  }

  /** A fire has ended with this line (1), or is open again (-1). */
  count({ schedule, number, dueAt, ending, range, isFinal }: HistoryRecord, by: 1 | -1): void {
    if (!isFinal) return
    const hour = ['u', encodeNumber(hourOf(dueAt)), ending.outcome]
    if (range !== null) {
      const key = this.#keys.key(...hour, RANGE, encodeName(schedule), encodeNumber(number))
      if (by === 1) this.#writes.put(key, String(range.count))
      else this.#writes.delete(key)
      return
    }
    const place = `${this.#place}.${this.#written++}`
    this.#writes.put(this.#keys.key(...hour, by === 1 ? UP : DOWN, place), '')
  }
}

export async function countFires(context: Context, { from, to }: HourQuery): Promise<HourCount[]> {
  const { keys, driver } = context
  const range = { from: keys.key('u', encodeNumber(from)), to: keys.key('u', encodeNumber(to)) }
  const { found } = await driver.read([range])
  const counts = new Map<string, { hour: Instant; outcome: Outcome; count: number }>()
  for (const entry of found[0]!.entries) {
    const { hour, outcome } = placeOf(keys, entry)
    const key = `${hour} ${outcome}`
    const known = counts.get(key) ?? { hour, outcome, count: 0 }
    known.count += worthOf(keys, entry)
    counts.set(key, known)
  }
  const hours = [...counts.values()].filter(({ count }) => count !== 0)
  return hours.sort((one, other) => one.hour - other.hour || (one.outcome < other.outcome ? -1 : 1))
}

function placeOf(keys: Keys, { key }: Entry): { hour: Instant; outcome: Outcome; kind: string } {
  const [, hour, outcome, kind] = keys.parts(key)
  return { hour: decodeNumber(hour!), outcome: outcome as Outcome, kind: kind! }
}

function worthOf(keys: Keys, entry: Entry): number {
  const { kind } = placeOf(keys, entry)
  if (kind === UP) return entry.version
  return kind === DOWN ? -entry.version : Number(entry.value)
}

/** Delete what is too old, and make one key of the many of an hour that is over. */
export async function foldCounts({ keys, driver, identity, time }: Context): Promise<void> {
  const now = time.now()
  const past = { from: keys.key('u', encodeNumber(-Infinity)), to: keys.key('u', encodeNumber(now - FOLD_AFTER_MS)) }
  const { found, revision } = await driver.read([{ ...past, limit: 1_000 }])
  const hours = Map.groupBy(found[0]!.entries, ({ key }) => keys.parts(key).slice(1, 3).join(' '))
  const groups: Group[] = []
  for (const entries of hours.values()) {
    const { hour, outcome } = placeOf(keys, entries[0]!)
    const range = keys.below('u', encodeNumber(hour), outcome)
    const guards = [{ range, is: 'quiet', revision }] as const
    if (hour < now - COUNTS_KEPT_MS) groups.push({ guards, puts: [], deletes: [], clears: [range] })
    else {
      const folded = entries.filter((entry) => placeOf(keys, entry).kind !== RANGE)
      const key = keys.key('u', encodeNumber(hour), outcome, SUM)
      const value = String(folded.reduce((sum, entry) => sum + worthOf(keys, entry), 0))
      const deletes = folded.map((entry) => entry.key).filter((one) => one !== key)
      if (deletes.length > 0) groups.push({ guards, puts: [{ key, value }], deletes })
    }
  }
  if (groups.length === 0) return
  await driver.commit({ guards: [identity.guard], puts: [], groups: groups.slice(0, FOLDED_AT_ONCE) })
}
