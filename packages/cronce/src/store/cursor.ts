import { StoreError } from './store-error.ts'

/** A cursor is the place of the last item of its page, so what comes and goes in between disturbs nothing. */
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
  // The store did not fail: it was asked for nothing.
  throw new StoreError('CURSOR_INVALID', `This is no cursor of a list: ${cursor.slice(0, 100)}`, {
    hint: 'Pass what the page before answered as next, unchanged, to the same kind of list.',
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
