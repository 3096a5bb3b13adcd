import type { Commit, Entry, Found, Group, Guard, KeyRange, Put } from '../kv/driver.ts'
import { foldersOf, type Layout } from './layout.ts'
import { ANY_VERSION, exists, type Maybe, type Node, type Operation, type Stat } from './messages.ts'
import { encodeValue, entryOf, findKeys, getNodes, type Look, lookAt, lookTogether, statKeys } from './view.ts'

// A commit is decided here, on what was read as of one moment, and written in one transaction if no other commit came in between. So
// the server compares one number, and everything else that a commit depends on is known to be as it was read.

/** What a commit depends on, and what it meets where it writes. */
export interface Seen {
  /** Whether each guard holds: those of the commit, and those of each group. */
  readonly isHeld: boolean
  readonly groupsHeld: readonly boolean[]
  /** Keys that guards name, as they were; `undefined`: absent. */
  readonly guarded: ReadonlyMap<string, Entry | undefined>
  /** Of the keys that are written or deleted. */
  readonly stats: ReadonlyMap<string, Maybe<Stat>>
  /** Keys that `clears` delete. */
  readonly cleared: ReadonlyMap<KeyRange, readonly string[]>
  /** Nodes of folders that are there. */
  readonly folders: ReadonlySet<string>
  /** Nodes that end with their session, and that a guard depends on: no commit says when they end. */
  readonly ephemeral: readonly { readonly key: string; readonly version: number }[]
}

export function* lookForCommit(layout: Layout, { guards, puts, groups }: Commit): Look<Seen> {
  const allGuards = [guards, ...groups.map((group) => group.guards)]
  const flat = allGuards.flat()
  const guardKeys = [...new Set(flat.flatMap((guard) => ('key' in guard ? [guard.key] : [])))]
  const written = [...puts, ...groups.flatMap((group) => group.puts)].map(({ key }) => key)
  const keys = [...new Set([...written, ...groups.flatMap(({ deletes }) => deletes)])]
  const ranged = flat.filter((guard) => 'range' in guard)
  const clears = groups.flatMap((group) => group.clears ?? [])
  const [nodes, stats, folders, found, cleared] = (yield* lookTogether<unknown>([
    getNodes(layout, guardKeys),
    statKeys(layout, keys),
    lookForFolders(layout, written),
    lookTogether(ranged.map((guard) => lookAt(layout, rangeRead(guard)))),
    lookTogether(clears.map((range) => findKeys(layout, range, Number.POSITIVE_INFINITY, false))),
  ])) as [Maybe<Node>[], Maybe<Stat>[], Set<string>, Found[], string[][]]
  const entries = new Map<string, Entry>()
  const ephemeral: { key: string; version: number }[] = []
  for (const [index, key] of guardKeys.entries()) {
    const node = nodes[index]!
    if (node === null) continue
    entries.set(key, entryOf(key, node))
    if (node.stat.owner !== 0n) ephemeral.push({ key, version: node.stat.version })
  }
  const ranges = new Map(ranged.map((guard, index) => [guard as Guard, found[index]!]))
  const [isHeld, ...groupsHeld] = allGuards.map((some) => some.every((guard) => holds(guard, entries, ranges)))
  return {
    isHeld: isHeld!,
    groupsHeld,
    guarded: new Map(guardKeys.map((key) => [key, entries.get(key)])),
    stats: new Map(keys.map((key, index) => [key, stats[index]!])),
    cleared: new Map(clears.map((range, index) => [range, cleared[index]!])),
    folders,
    ephemeral,
  }
}

function* lookForFolders(layout: Layout, written: readonly string[]): Look<Set<string>> {
  const paths = [...new Set(written.flatMap((key) => folderNodes(layout, key)))]
  if (paths.length === 0) return new Set()
  const stats = (yield paths.map((path) => exists(path))) as readonly Maybe<Stat>[]
  return new Set(paths.filter((_, index) => stats[index] !== null))
}

/** From the outermost on. */
function folderNodes(layout: Layout, key: string): string[] {
  const folders = foldersOf(key)
  return folders.map((_, index) => layout.folder(folders.slice(0, index + 1)))
}

function rangeRead(guard: Guard & { readonly range: KeyRange }): KeyRange & { limit?: number; keysOnly?: boolean } {
  return guard.is === 'empty' ? { ...guard.range, limit: 1, keysOnly: true } : guard.range
}

function holds(guard: Guard, entries: ReadonlyMap<string, Entry>, ranges: ReadonlyMap<Guard, Found>): boolean {
  switch (guard.is) {
    case 'absent':
      return !entries.has(guard.key)
    case 'present':
      return entries.has(guard.key)
    case 'revision':
      return entries.get(guard.key)?.revision === guard.revision
    case 'version':
      return (entries.get(guard.key)?.version ?? 0) === guard.version
    case 'empty':
      return ranges.get(guard)!.entries.length === 0
    case 'quiet':
      return ranges.get(guard)!.entries.every(({ revision }) => revision <= guard.revision)
  }
}

/** What is written, and by whom. */
export interface Writing {
  readonly layout: Layout
  /** The number of this commit. */
  readonly revision: number
  /** Of the session that writes: ephemeral nodes belong to it. */
  readonly owner: bigint
}

/** All that one transaction does for some groups, beside counting the commit. */
export function operationsFor(
  { layout, revision, owner }: Writing,
  puts: readonly Put[],
  groups: readonly Group[],
  seen: Seen,
): Operation[] {
  const allPuts = [...puts, ...groups.flatMap((group) => group.puts)]
  const operations: Operation[] = seen.ephemeral.map(({ key, version }) => {
    return { op: 'check', path: layout.leaf(key), version }
  })
  const folders = new Set(seen.folders)
  for (const { key } of allPuts) {
    for (const path of folderNodes(layout, key)) {
      if (folders.has(path)) continue
      folders.add(path)
      operations.push({ op: 'create', path, data: Buffer.alloc(0), kind: 'container' })
    }
  }
  for (const put of allPuts) {
    const data = encodeValue(revision, put.value)
    operations.push(...putOperations(layout.leaf(put.key), data, put, seen.stats.get(put.key) ?? null, owner))
  }
  const written = new Set(allPuts.map(({ key }) => key))
  const deleted = groups.flatMap(({ deletes, clears = [] }) => [
    ...deletes.filter((key) => seen.stats.get(key) != null),
    ...clears.flatMap((range) => seen.cleared.get(range)!),
  ])
  for (const key of new Set(deleted)) if (!written.has(key)) operations.push({ op: 'delete', path: layout.leaf(key) })
  return operations
}

function putOperations(path: string, data: Buffer, { lease }: Put, stat: Maybe<Stat>, owner: bigint): Operation[] {
  const kind = lease === undefined ? 'persistent' : 'ephemeral'
  const create: Operation = { op: 'create', path, data, kind }
  if (stat === null) return [create]
  if (stat.owner === (lease === undefined ? 0n : owner)) return [{ op: 'setData', path, data, version: ANY_VERSION }]
  // A node can't change its session.
  return [{ op: 'delete', path }, create]
}

/** About what it takes in a request. */
export function sizeOf(operations: readonly Operation[]): number {
  let size = 0
  for (const operation of operations) {
    size += OVERHEAD_BYTES + operation.path.length
    if ('data' in operation) size += operation.data.length
  }
  return size
}

/** Of an operation: its type, version, rights and lengths. */
const OVERHEAD_BYTES = 60
