import { compareBytes } from '../cursor.ts'
import type { Entry, Found, KeyRange, Read } from '../kv/driver.ts'
import { type Child, folderFor, foldersOf, isIn, type Layout, mayHold, readChild } from './layout.ts'
import { exists, getChildren, getData, type Maybe, type Node, type Request, type Stat } from './messages.ts'

/**
 * What is looked at, as a coroutine: it yields requests, is handed their answers (`null`: no such node), and yields again or ends. So
 * that many of them share their round trips.
 */
export type Look<Result> = Generator<readonly Request<unknown>[], Result, readonly unknown[]>

/** Several at the same time: their requests go together. */
export function* lookTogether<Result>(looks: readonly Look<Result>[]): Look<Result[]> {
  const results: Result[] = []
  let pending = looks.map((look, index) => ({ look, index, asked: look.next() }))
  for (;;) {
    for (const { asked, index } of pending) if (asked.done === true) results[index] = asked.value
    pending = pending.filter(({ asked }) => asked.done !== true)
    if (pending.length === 0) return results
    const requests = pending.map(({ asked }) => asked.value as readonly Request<unknown>[])
    const answers = yield requests.flat()
    let at = 0
    pending = pending.map(({ look, index }, place) => {
      const from = at
      at += requests[place]!.length
      return { look, index, asked: look.next(answers.slice(from, at)) }
    })
  }
}

/** Folders that are listed at a time when a few keys are looked for. */
const FOLDERS_AT_ONCE = 8

/** A key as it is stored: the number of the commit that wrote it, and its value. */
export function encodeValue(revision: number, value: string): Buffer {
  return Buffer.from(`${revision}\n${value}`)
}

export function entryOf(key: string, { data, stat }: Node): Entry {
  const text = data.toString()
  const end = text.indexOf('\n')
  return { key, value: text.slice(end + 1), revision: Number(text.slice(0, end)), version: stat.version + 1 }
}

export function* lookAt(layout: Layout, read: Read): Look<Found> {
  if ('get' in read) {
    const entries = yield* getEntries(layout, [read.get])
    return { entries, count: entries.length }
  }
  const { limit = Number.POSITIVE_INFINITY, reverse = false, keysOnly = false, countOnly = false } = read
  const keys = yield* findKeys(layout, read, countOnly ? Number.POSITIVE_INFINITY : limit + 1, reverse)
  if (countOnly) return { entries: [], count: keys.length }
  const wanted = keys.slice(0, limit)
  const entries = keysOnly
    ? wanted.map((key) => ({ key, value: '', revision: 0, version: 0 }))
    : yield* getEntries(layout, wanted)
  return { entries, count: keys.length }
}

export function* getNodes(layout: Layout, keys: readonly string[]): Look<readonly Maybe<Node>[]> {
  return keys.length === 0 ? [] : ((yield keys.map((key) => getData(layout.leaf(key)))) as readonly Maybe<Node>[])
}

function* getEntries(layout: Layout, keys: readonly string[]): Look<Entry[]> {
  const nodes = yield* getNodes(layout, keys)
  return nodes.flatMap((node, index) => (node === null ? [] : [entryOf(keys[index]!, node)]))
}

/** The first or last keys of a range, in order. Folders are listed one after the other, until there are enough. */
export function* findKeys(layout: Layout, range: KeyRange, most: number, reverse: boolean): Look<string[]> {
  const sign = reverse ? -1 : 1
  let children: Child[] = [{ isFolder: true, text: folderFor(range).join('') }]
  for (;;) {
    const enough = children.slice(0, most)
    const folders = enough
      .filter(({ isFolder }) => isFolder)
      .slice(0, Number.isFinite(most) ? FOLDERS_AT_ONCE : undefined)
    if (folders.length === 0) return enough.map(({ text }) => text)
    const lists = (yield folders.map(({ text }) => getChildren(layout.folder(foldersOf(text))))) as readonly Maybe<
      readonly string[]
    >[]
    const listed = new Map(folders.map(({ text }, index) => [text, lists[index] ?? []]))
    children = children.flatMap((child) => {
      const names = child.isFolder ? listed.get(child.text) : undefined
      return names === undefined ? [child] : childrenIn(child.text, names, range, sign)
    })
  }
}

function childrenIn(beginning: string, names: readonly string[], range: KeyRange, sign: number): Child[] {
  return names
    .flatMap((name) => readChild(beginning, name) ?? [])
    .filter(({ isFolder, text }) => (isFolder ? mayHold(text, range) : isIn(text, range)))
    .sort((one, other) => sign * compareBytes(one.text, other.text))
}

/** What is there of these keys, without their values. */
export function* statKeys(layout: Layout, keys: readonly string[]): Look<Maybe<Stat>[]> {
  if (keys.length === 0) return []
  return [...((yield keys.map((key) => exists(layout.leaf(key)))) as readonly Maybe<Stat>[])]
}
