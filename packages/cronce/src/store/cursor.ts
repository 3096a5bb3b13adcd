import type { FireKey, ListedRecord } from '../model/record.ts'
import type { RecordQuery } from './store.ts'
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
