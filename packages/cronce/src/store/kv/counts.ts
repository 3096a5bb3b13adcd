import { COUNTS_KEPT_MS, hourOf } from '../../model/hours.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { HistoryRecord, HourCount } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import type { HourQuery } from '../store.ts'
import type { Context } from './context.ts'
import type { Entry, Group, KeyRange } from './driver.ts'
import { decodeNumber, encodeName, encodeNumber, type Keys } from './keys.ts'
import type { Writes } from './writes.ts'

// How many fires ended how, by the hour. A store without increments counts by writing: the version of a key says how often it was
// written. No key is written twice in one commit, so every change of a commit writes to a key of its own (`place`).

/** Ends, one by one. A fold deletes what it has read of them, so the oldest are always those that are still to be folded. */
const SINGLE = 'u'
/** Of each hour and outcome, the sum of what was folded. */
const SUM = 'us'
/** A range, by its line: the value counts. */
const RANGE = 'ur'
const KINDS = [SINGLE, SUM, RANGE] as const

const UP = '+'
const DOWN = '-'

/** Hours that ended this long ago get few further ends, so their keys are folded. */
const FOLD_AFTER_MS = 2 * 3_600_000
const FOLDED_AT_ONCE = 1_000
/** In one call: the next one goes on. */
const MOST_FOLDS = 10

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
    const hour = [encodeNumber(hourOf(dueAt)), ending.outcome]
    if (range !== null) {
      const key = this.#keys.key(RANGE, ...hour, encodeName(schedule), encodeNumber(number))
      if (by === 1) this.#writes.put(key, String(range.count))
      else this.#writes.delete(key)
      return
    }
    const place = `${this.#place}.${this.#written++}`
    this.#writes.put(this.#keys.key(SINGLE, ...hour, by === 1 ? UP : DOWN, place), '')
  }
}

export async function countFires(context: Context, { from, to }: HourQuery): Promise<HourCount[]> {
  const { keys, driver } = context
  const { found } = await driver.read(KINDS.map((kind) => hoursOf(keys, kind, from, to)))
  const counts = new Map<string, { hour: Instant; outcome: Outcome; count: number }>()
  for (const entry of found.flatMap(({ entries }) => entries)) {
    const { hour, outcome } = placeOf(keys, entry)
    const key = `${hour} ${outcome}`
    const known = counts.get(key) ?? { hour, outcome, count: 0 }
    known.count += worthOf(keys, entry)
    counts.set(key, known)
  }
  const hours = [...counts.values()].filter(({ count }) => count !== 0)
  return hours.sort((one, other) => one.hour - other.hour || (one.outcome < other.outcome ? -1 : 1))
}

function hoursOf(keys: Keys, kind: string, from: Instant, to: Instant): KeyRange {
  return { from: keys.key(kind, encodeNumber(from)), to: keys.key(kind, encodeNumber(to)) }
}

function placeOf(keys: Keys, { key }: Entry): { hour: Instant; outcome: Outcome } {
  const [, hour, outcome] = keys.parts(key)
  return { hour: decodeNumber(hour!), outcome: outcome as Outcome }
}

function worthOf(keys: Keys, { key, value, version }: Entry): number {
  const [kind, , , sign] = keys.parts(key)
  if (kind !== SINGLE) return Number(value)
  return sign === UP ? version : -version
}

/** Delete what is too old, and make one key of the many of an hour that is over. */
export async function foldCounts(context: Context): Promise<void> {
  const { keys, driver, identity, time } = context
  const now = time.now()
  const old = KINDS.map((kind) => hoursOf(keys, kind, -Infinity, now - COUNTS_KEPT_MS))
  const { found } = await driver.read(old.map((range) => ({ ...range, limit: 1, keysOnly: true })))
  if (found.some(({ entries }) => entries.length > 0)) {
    const groups: Group[] = [{ guards: [], puts: [], deletes: [], clears: old }]
    await driver.commit({ guards: [identity.guard], puts: [], groups })
  }
  const past = hoursOf(keys, SINGLE, now - COUNTS_KEPT_MS, now - FOLD_AFTER_MS)
  for (let folds = 0; folds < MOST_FOLDS; folds++) {
    const { found, revision } = await driver.read([{ ...past, limit: FOLDED_AT_ONCE }])
    const { entries } = found[0]!
    for (let rest = await foldsOf(context, entries, revision); rest.length > 0; ) {
      const { isHeld, written } = await driver.commit({ guards: [identity.guard], puts: [], groups: rest })
      if (!isHeld) return
      rest = rest.slice(written.length)
    }
    if (entries.length < FOLDED_AT_ONCE) return
  }
}

/** Adds what was read to the sums of its hours: these may be only some of the keys of the last one. */
async function foldsOf({ keys, driver }: Context, singles: readonly Entry[], revision: number): Promise<Group[]> {
  const hours = [...Map.groupBy(singles, ({ key }) => keys.key(SUM, ...keys.parts(key).slice(1, 3)))]
  if (hours.length === 0) return []
  const { found } = await driver.read(hours.map(([get]) => ({ get })))
  return hours.map(([key, entries], index) => {
    const sum = found[index]!.entries[0]
    const value = [...entries, ...(sum === undefined ? [] : [sum])].reduce((all, one) => all + worthOf(keys, one), 0)
    const range = keys.below(SINGLE, ...keys.parts(key).slice(1))
    return {
      guards: [
        { range, is: 'quiet', revision },
        // Another process that has folded the same keys since they were read has written the sum.
        { range: { from: key, to: `${key}\0` }, is: 'quiet', revision },
      ],
      puts: [{ key, value: String(value) }],
      deletes: entries.map((entry) => entry.key),
    }
  })
}
