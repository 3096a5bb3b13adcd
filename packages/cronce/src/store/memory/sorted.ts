/**
 * A sorted list in chunks: adding and removing move a few hundred items at most, however long the list is. Added items are sorted
 * in on reading, since most lists are written far more often than read.
 */
export interface Sorted<Key, Item extends Key = Key> {
  readonly compare: (one: Key, other: Key) => number
  /** No chunk is empty. Read them through `chunksOf`. */
  readonly chunks: Item[][]
  added: Item[]
}

const CHUNK = 256

export function sorted<Key, Item extends Key = Key>(compare: (one: Key, other: Key) => number): Sorted<Key, Item> {
  return { compare, chunks: [], added: [] }
}

export function insert<Key, Item extends Key>(list: Sorted<Key, Item>, item: Item): void {
  list.added.push(item)
}

export function isEmpty<Key, Item extends Key>({ chunks, added }: Sorted<Key, Item>): boolean {
  return chunks.length + added.length === 0
}

/** All items, in order. */
export function chunksOf<Key, Item extends Key>(list: Sorted<Key, Item>): readonly (readonly Item[])[] {
  const { added } = list
  if (added.length > 0) {
    list.added = []
    for (const item of added.length > 1 ? added.sort(list.compare) : added) put(list, item)
  }
  return list.chunks
}

function put<Key, Item extends Key>(list: Sorted<Key, Item>, item: Item): void {
  const { chunks } = list
  const { chunkIndex, index } = seek(list, item, false)
  if (chunkIndex === chunks.length) {
    const last = chunks.at(-1)
    if (last === undefined || last.length >= CHUNK) chunks.push([item])
    else last.push(item)
    return
  }
  const chunk = chunks[chunkIndex]!
  chunk.splice(index, 0, item)
  if (chunk.length > 2 * CHUNK) chunks.splice(chunkIndex + 1, 0, chunk.splice(CHUNK))
}

/** The item that compares as equal, if there is one. */
export function remove<Key, Item extends Key>(list: Sorted<Key, Item>, item: Key): void {
  chunksOf(list)
  const { chunkIndex, index } = seek(list, item, false)
  const chunk = list.chunks[chunkIndex]
  if (chunk === undefined || list.compare(chunk[index]!, item) !== 0) return
  if (chunk.length === 1) list.chunks.splice(chunkIndex, 1)
  else chunk.splice(index, 1)
}

/** The item that compares as equal. */
export function find<Key, Item extends Key>(list: Sorted<Key, Item>, key: Key): Item | undefined {
  const chunks = chunksOf(list)
  const { chunkIndex, index } = seek(list, key, false)
  const item = chunks[chunkIndex]?.[index]
  return item !== undefined && list.compare(item, key) === 0 ? item : undefined
}

/** Ascending from the first item after `after` (or at it, if `including`), or from the start. */
export function* ascend<Key, Item extends Key>(
  list: Sorted<Key, Item>,
  after: Key | null = null,
  including = false,
): Generator<Item> {
  const chunks = chunksOf(list)
  let { chunkIndex, index } = after === null ? { chunkIndex: 0, index: 0 } : seek(list, after, !including)
  for (; chunkIndex < chunks.length; chunkIndex++, index = 0) {
    const chunk = chunks[chunkIndex]!
    for (; index < chunk.length; index++) yield chunk[index]!
  }
}

/** Descending from the last item before `before` (or at it, if `including`), or from the end. */
export function* descend<Key, Item extends Key>(
  list: Sorted<Key, Item>,
  before: Key | null = null,
  including = false,
): Generator<Item> {
  const chunks = chunksOf(list)
  let { chunkIndex, index } = before === null ? { chunkIndex: chunks.length, index: 0 } : seek(list, before, including)
  for (; chunkIndex >= 0; chunkIndex--, index = chunks[chunkIndex]?.length ?? 0) {
    const chunk = chunks[chunkIndex]
    for (let at = index - 1; at >= 0; at--) yield chunk![at]!
  }
}

/** The position of the first item that is not before the key, or (`behind`) is after it. */
function seek<Key, Item extends Key>(
  { chunks, compare }: Sorted<Key, Item>,
  key: Key,
  behind: boolean,
): { chunkIndex: number; index: number } {
  const least = behind ? 1 : 0
  let low = 0
  let high = chunks.length
  // Items mostly come in order: check the end first.
  if (high > 0 && compare(chunks[high - 1]!.at(-1)!, key) < least) return { chunkIndex: high, index: 0 }
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(chunks[middle]!.at(-1)!, key) < least) low = middle + 1
    else high = middle
  }
  const chunk = chunks[low]
  if (chunk === undefined) return { chunkIndex: low, index: 0 }
  let from = 0
  let to = chunk.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (compare(chunk[middle]!, key) < least) from = middle + 1
    else to = middle
  }
  return { chunkIndex: low, index: from }
}

export function compareText(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1
}
