import type { ActivityRecord } from '../model/activity.ts'
import type { FireKey, ListedRecord } from '../model/record.ts'
import type { ActivityQuery, Page, RecordQuery } from './store.ts'
import { StoreError } from './store-error.ts'

/** A cursor is the position of the last item of its page, so changes in between do no harm. */
export function writeCursor(place: readonly (string | number)[]): string {
  return JSON.stringify(place)
}

type Kind = 'string' | 'number'

type Place<Kinds extends readonly Kind[]> = {
  [Index in keyof Kinds]: Kinds[Index] extends 'string' ? string : number
}

export function readCursor<const Kinds extends readonly Kind[]>(cursor: string, kinds: Kinds): Place<Kinds> {
  const place = parse(cursor)
  const isOurs =
    Array.isArray(place) && place.length === kinds.length && kinds.every((kind, index) => typeof place[index] === kind)
  if (isOurs) return place as unknown as Place<Kinds>
  // The store did not fail: the request was invalid.
  throw new StoreError('CURSOR_INVALID', `The cursor does not belong to this list: ${cursor.slice(0, 100)}`, {
    hint: 'Pass what the page before answered as next, unchanged, to the same kind of list.',
  })
}

/** The position of a record in a list. `token` is empty where fires are listed, since the token of a fire changes. */
export interface RecordPlace extends FireKey {
  readonly token: string
}

export function placeOf({ schedule, dueAt, nonce, run }: ListedRecord, view: RecordQuery['view']): RecordPlace {
  return { schedule, dueAt, nonce, token: view === 'fires' || run === null ? '' : run.token }
}

export function writePlace({ dueAt, schedule, nonce, token }: RecordPlace): string {
  return writeCursor([dueAt, schedule, nonce, token])
}

export function readPlace({ after }: RecordQuery): RecordPlace | null {
  if (after === null) return null
  const [dueAt, schedule, nonce, token] = readCursor(after, ['number', 'string', 'string', 'string'])
  return { dueAt, schedule, nonce, token }
}

/** The line that a page of the operator log begins behind. */
export function readActivityPlace({ after }: ActivityQuery): Pick<ActivityRecord, 'at' | 'id'> | null {
  if (after === null) return null
  const [at, id] = readCursor(after, ['number', 'string'])
  return { at, id }
}

/** A page of the lines that were found, of which there may be more than it holds. */
export function activityPage(
  now: number,
  found: readonly ActivityRecord[],
  { limit }: ActivityQuery,
): Page<ActivityRecord> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  const isCut = found.length > limit && last !== undefined
  return { now, items, next: isCut ? writeCursor([last.at, last.id]) : null }
}

/** The latest first. */
export function compareActivity(
  one: Pick<ActivityRecord, 'at' | 'id'>,
  other: Pick<ActivityRecord, 'at' | 'id'>,
): number {
  return other.at - one.at || compareBytes(other.id, one.id)
}

/** `compareText` is the order of texts in the store. Tokens are decimal numbers: the longer one is the larger one. */
export function comparePlaces(
  one: RecordPlace,
  other: RecordPlace,
  compareText: (one: string, other: string) => number,
): number {
  return (
    one.dueAt - other.dueAt ||
    compareText(one.schedule, other.schedule) ||
    compareText(one.nonce, other.nonce) ||
    one.token.length - other.token.length ||
    compareText(one.token, other.token)
  )
}

/** As databases compare: byte by byte. */
export function compareBytes(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
