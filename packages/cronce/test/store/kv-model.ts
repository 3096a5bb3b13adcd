import { compareBytes } from '../../src/store/cursor.ts'
import {
  type Commit,
  type Committed,
  type Entry,
  type Found,
  type Group,
  type Guard,
  type KeyRange,
  type KvDriver,
  LeaseEnded,
  type Put,
  type Read,
  RevisionGone,
  type Snapshot,
  type Written,
} from '../../src/store/kv/driver.ts'

// The contract of a driver of the key-value store in a hundred lines, in this process: what a server does, without a server.

/** The store asks for this much more than it needs. Here leases end to the millisecond. */
const TTL_FACTOR = 1.15

/** What a key was from a revision on. `null`: absent. */
interface Step {
  readonly revision: number
  readonly entry: Entry | null
}

export interface ModelOptions {
  readonly now: () => number
  /** Of one commit; the other groups are left to the next. @default all */
  readonly mostGroups?: () => number
  /** Called after each write. */
  readonly onCommit?: (revision: number) => void
}

export class ModelServer {
  readonly #options: ModelOptions
  readonly #steps = new Map<string, Step[]>()
  /** Every key that ever was, in order. */
  readonly #keys: string[] = []
  readonly #log: { readonly revision: number; readonly written: readonly Written[] }[] = []
  readonly #leases = new Map<string, { ttlMs: number; until: number }>()
  readonly #watches = new Set<{ readonly key: string; readonly onValue: (value: string) => void }>()
  #revision = 1
  #granted = 0
  #compacted = 0

  constructor(options: ModelOptions) {
    this.#options = options
  }

  get revision(): number {
    return this.#revision
  }

  /** Reads of what was before this are refused. */
  compact(revision: number): void {
    this.#compacted = Math.max(this.#compacted, revision)
  }

  /** The keys of a range, as they are now or were right after a write. */
  entries({ from, to }: KeyRange, at = this.#revision): Entry[] {
    const found: Entry[] = []
    for (let index = this.#placeOf(from); index < this.#keys.length; index++) {
      const key = this.#keys[index]!
      if (compareBytes(key, to) >= 0) break
      const entry = this.#at(key, at)
      if (entry !== null) found.push(entry)
    }
    return found
  }

  driver(): KvDriver {
    return {
      name: 'model',
      clock: () => ({ earliest: this.#options.now(), latest: this.#options.now(), steps: 0 }),
      sharpen: async () => {},
      read: async (reads, at) => this.#read(reads, at),
      commit: async (commit) => this.#commit(commit),
      grant: async (ttlMs) => this.#grant(ttlMs),
      keepAlive: async (lease) => this.#keepAlive(lease),
      watch: (key, onValue) => this.#watch(key, onValue),
      changes: async (range, after, until) => this.#changes(range, after, until),
      identify: async () => ({ cluster: 'model', term: 1 }),
      onReplaced: () => {},
      close: async () => {},
    }
  }

  #read(reads: readonly Read[], given: number | undefined): Snapshot {
    this.#endLeases()
    const at = given ?? this.#revision
    if (at < this.#compacted) throw new RevisionGone('compacted')
    return { revision: at, found: reads.map((read) => this.#find(read, at)) }
  }

  #find(read: Read, at: number): Found {
    if ('get' in read) {
      const entry = this.#at(read.get, at)
      return entry === null ? { entries: [], count: 0 } : { entries: [entry], count: 1 }
    }
    const { limit = Number.POSITIVE_INFINITY, reverse = false, keysOnly = false, countOnly = false } = read
    const all = this.entries(read, at)
    const wanted = reverse ? all.reverse().slice(0, limit) : all.slice(0, limit)
    const entries = countOnly ? [] : keysOnly ? wanted.map((entry) => ({ ...entry, value: '' })) : wanted
    return { entries, count: all.length }
  }

  #commit({ guards, puts, groups, reads = [] }: Commit): Committed {
    this.#endLeases()
    const some = groups.slice(0, this.#options.mostGroups?.())
    for (const { lease } of [...puts, ...some.flatMap((group) => group.puts)]) {
      if (lease !== undefined && !this.#leases.has(lease)) throw new LeaseEnded('ended')
    }
    const isHeld = guards.every((guard) => this.#holds(guard))
    const written = isHeld ? some.map((group) => group.guards.every((guard) => this.#holds(guard))) : []
    if (isHeld) this.#renew(puts)
    if (isHeld)
      this.#write(
        puts,
        some.filter((_, index) => written[index]),
      )
    return { isHeld, revision: this.#revision, written, found: reads.map((read) => this.#find(read, this.#revision)) }
  }

  #write(puts: readonly Put[], groups: readonly Group[]): void {
    const revision = ++this.#revision
    const written = new Map<string, Written & { readonly lease?: string | undefined }>()
    const note = (change: Written & { readonly lease?: string | undefined }): void => {
      // A server refuses a transaction that writes a key twice.
      if (written.has(change.key)) throw new Error(`${change.key} is written twice`)
      written.set(change.key, change)
    }
    for (const put of [...puts, ...groups.flatMap((group) => group.puts)]) note(put)
    for (const key of groups.flatMap((group) => group.deletes)) note({ key, value: null })
    for (const range of groups.flatMap(({ clears = [] }) => clears)) {
      for (const { key } of this.entries(range, revision - 1)) if (!written.has(key)) note({ key, value: null })
    }
    for (const { key, value, lease } of written.values()) this.#set(key, value, revision, lease)
    this.#log.push({ revision, written: [...written.values()].map(({ key, value }) => ({ key, value })) })
    this.#options.onCommit?.(revision)
    for (const { key, onValue } of this.#watches) {
      const value = written.get(key)?.value
      if (value != null) queueMicrotask(() => onValue(value))
    }
  }

  readonly #leased = new Map<string, string>()

  #set(key: string, value: string | null, revision: number, lease?: string): void {
    const before = this.#at(key, revision)
    const entry = value === null ? null : { key, value, revision, version: (before?.version ?? 0) + 1 }
    const steps = this.#steps.get(key)
    if (steps === undefined) this.#keys.splice(this.#placeOf(key), 0, key)
    this.#steps.set(key, [...(steps ?? []), { revision, entry }])
    if (lease === undefined || entry === null) this.#leased.delete(key)
    else this.#leased.set(key, lease)
  }

  #holds(guard: Guard): boolean {
    if ('range' in guard) {
      const entries = this.entries(guard.range)
      return guard.is === 'empty' ? entries.length === 0 : entries.every(({ revision }) => revision <= guard.revision)
    }
    const entry = this.#at(guard.key, this.#revision)
    switch (guard.is) {
      case 'absent':
        return entry === null
      case 'present':
        return entry !== null
      case 'revision':
        return entry?.revision === guard.revision
      case 'version':
        return (entry?.version ?? 0) === guard.version
    }
  }

  #grant(askedMs: number): string {
    const id = String(++this.#granted)
    const ttlMs = Math.round(askedMs / TTL_FACTOR)
    this.#leases.set(id, { ttlMs, until: this.#options.now() + ttlMs })
    return id
  }

  /** Time may pass here without passing for the store, which keeps a lease alive by its own clock: a write counts as well. */
  #renew(puts: readonly Put[]): void {
    for (const { lease } of puts) {
      const known = lease === undefined ? undefined : this.#leases.get(lease)
      if (known !== undefined) known.until = this.#options.now() + known.ttlMs
    }
  }

  #keepAlive(id: string): boolean {
    this.#endLeases()
    const lease = this.#leases.get(id)
    if (lease === undefined) return false
    lease.until = this.#options.now() + lease.ttlMs
    return true
  }

  /** Ends this lease now, as a server may that has stalled. */
  endLease(id: string): void {
    const lease = this.#leases.get(id)
    if (lease !== undefined) lease.until = Number.NEGATIVE_INFINITY
    this.#endLeases()
  }

  get leases(): string[] {
    return [...this.#leases.keys()]
  }

  #endLeases(): void {
    const now = this.#options.now()
    for (const [id, { until }] of this.#leases) {
      if (until > now) continue
      this.#leases.delete(id)
      const gone = [...this.#leased].filter(([, lease]) => lease === id).map(([key]) => key)
      if (gone.length > 0) this.#write([], [{ guards: [], puts: [], deletes: gone }])
    }
  }

  #watch(key: string, onValue: (value: string) => void): () => void {
    const watch = { key, onValue }
    this.#watches.add(watch)
    return () => this.#watches.delete(watch)
  }

  #changes({ from, to }: KeyRange, after: number, until: number): Written[] | null {
    if (until <= after) return []
    if (after + 1 < this.#compacted) return null
    const isIn = ({ key }: Written): boolean => compareBytes(key, from) >= 0 && compareBytes(key, to) < 0
    return this.#log
      .filter(({ revision }) => revision > after && revision <= until)
      .flatMap(({ written }) => written.filter(isIn))
  }

  #at(key: string, at: number): Entry | null {
    return this.#steps.get(key)?.findLast(({ revision }) => revision <= at)?.entry ?? null
  }

  #placeOf(key: string): number {
    let [low, high] = [0, this.#keys.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (compareBytes(this.#keys[middle]!, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
