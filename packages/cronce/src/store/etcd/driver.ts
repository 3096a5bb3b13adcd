import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ClockBounds,
  type Commit,
  type Committed,
  type Found,
  type Group,
  type Guard,
  type KeyRange,
  type KvDriver,
  LeaseEnded,
  type Put,
  type Read,
  RevisionGone,
  type ServerIdentity,
  type Snapshot,
  type Written,
} from '../kv/driver.ts'
import { StoreError } from '../store-error.ts'
import type { ClockKeeper } from './clock-keeper.ts'
import { isCompacted, isLeaseGone } from './errors.ts'
import type { Link } from './link.ts'
import {
  GRANT,
  type Header,
  KEEP_ALIVE,
  type LeaseAnswer,
  MAINTENANCE,
  type Operation,
  type RangeAnswer,
  READ,
  type StatusAnswer,
  TXN,
  type TxnAnswer,
  WATCHING,
  type WatchAnswer,
} from './messages.ts'
import { decode } from './protobuf.ts'

/** `--max-txn-ops`: operations on one level of a transaction, less those of the levels above. */
const MOST_OPERATIONS = 128
/** `--max-request-bytes` is 1.5 MB. */
const MOST_BYTES = 1_000_000
/** A group with more operations nests them, in as many levels as it takes. */
const NESTED = 24
const RECONNECT_MS = 200
/** Reads that the server's compaction cuts in two. */
const MOST_TRIES = 20

export class EtcdDriver implements KvDriver {
  readonly name: string
  readonly #link: Link
  readonly #keeper: ClockKeeper
  /** Written with every transaction. */
  readonly #touched: string
  readonly #home: string
  /** The highest revision that was seen: a lower one means that the cluster was restored from a copy. */
  #revision = 0
  #replaced: StoreError | null = null
  #onReplaced: (unchecked: KvDriver) => Promise<void> = async () => {}

  constructor(link: Link, keeper: ClockKeeper, home: string) {
    this.name = link.target.name
    this.#link = link
    this.#keeper = keeper
    this.#home = home
    this.#touched = `${home}touched`
  }

  clock(): ClockBounds {
    return this.#keeper.clock.bounds()
  }

  sharpen(mostMs: number): Promise<void> {
    return this.#keeper.isSharp(mostMs)
  }

  async read(reads: readonly Read[], at?: number): Promise<Snapshot> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#read(reads, at)
      } catch (error) {
        // Compacted between two requests of one read.
        if (!(error instanceof RevisionGone) || at !== undefined || tries === MOST_TRIES) throw error
      }
    }
  }

  async commit({ guards, puts, groups, reads = [] }: Commit): Promise<Committed> {
    // Operations of nested transactions do not count against the space quota (3.4, 3.5), so one of the outer one must.
    const [first, ...others] = puts.length > 0 ? puts : [{ key: this.#touched, value: '' }]
    const outer = [putOperation(first!), ...nest(others.map(putOperation))]
    const bite = groups.slice(0, fittingGroups(groups, others, guards.length, outer.length + reads.length))
    const answer = await this.#txn(TXN, {
      compare: guards.map(compareOf),
      success: [...bite.map(groupOperation), ...outer, ...reads.map((read) => readOperation(read))],
      failure: reads.map((read) => readOperation(read)),
    })
    const { header, succeeded, responses } = answer
    const found = reads.length === 0 ? [] : responses.slice(-reads.length)
    return {
      isHeld: succeeded,
      revision: header.revision,
      written: succeeded ? bite.map((_, index) => responses[index]!.response_txn!.succeeded) : [],
      found: found.map(({ response_range }) => foundOf(response_range!)),
    }
  }

  async grant(ttlMs: number): Promise<string> {
    return (await this.#call<LeaseAnswer>(() => this.#link.call(GRANT, { TTL: Math.ceil(ttlMs / 1_000) }))).ID
  }

  async keepAlive(lease: string): Promise<boolean> {
    return (await this.#call<LeaseAnswer>(() => this.#link.call(KEEP_ALIVE, { ID: lease }))).TTL > 0
  }

  watch(key: string, onValue: (value: string) => void, onBack: () => void): () => void {
    const stopped = new AbortController()
    const { signal } = stopped
    const follow = async (): Promise<void> => {
      for (let isFirst = true; !signal.aborted; isFirst = false) {
        const onAnswer = ({ created, events }: WatchAnswer): void => {
          if (created && !isFirst) onBack()
          for (const { kv } of events) onValue(kv.value)
        }
        await this.#follow({ key }, signal, onAnswer).catch(() => {})
        await sleep(RECONNECT_MS, undefined, { ref: false, signal }).catch(() => {})
      }
    }
    void follow()
    return () => stopped.abort()
  }

  async changes({ from, to }: KeyRange, after: number, until: number): Promise<readonly Written[] | null> {
    if (until <= after) return []
    const done = new AbortController()
    const written: Written[] = []
    let isGone = false
    const request = { key: from, range_end: to, start_revision: after + 1 }
    const timer = setTimeout(() => done.abort(), this.#link.target.timeoutMs)
    try {
      await this.#follow(request, done.signal, ({ events, compact_revision }) => {
        isGone ||= compact_revision > 0
        for (const { type, kv } of events) {
          if (kv.mod_revision <= until) written.push({ key: kv.key, value: type === 0 ? kv.value : null })
        }
        if (isGone || (events.at(-1)?.kv.mod_revision ?? 0) >= until) {
          clearTimeout(timer)
          done.abort('complete')
        }
      })
    } catch (error) {
      if (!isGone) throw this.#link.translate(error, true)
    } finally {
      clearTimeout(timer)
    }
    if (isGone) return null
    if (done.signal.reason !== 'complete') throw this.#silent()
    return written
  }

  async identify(): Promise<ServerIdentity> {
    // A member that is behind knows an old term until it has asked the leader.
    const { header } = await this.#txn(READ, { success: [readOperation({ get: this.#touched })] })
    return { cluster: header.cluster_id, term: header.raft_term }
  }

  onReplaced(listener: (unchecked: KvDriver) => Promise<void>): void {
    this.#onReplaced = listener
  }

  status(): Promise<StatusAnswer> {
    return this.#call(() => this.#link.call(MAINTENANCE, {}))
  }

  async close(): Promise<void> {
    this.#link.close()
  }

  async #read(reads: readonly Read[], at: number | undefined): Promise<Snapshot> {
    // A member answers a transaction without a key from what it has, however old that is.
    const asked = reads.length === 0 ? [{ get: this.#touched }] : reads
    const found: Found[] = []
    let revision = at
    for (let start = 0; start < asked.length; start += MOST_OPERATIONS) {
      const bite = asked.slice(start, start + MOST_OPERATIONS)
      const answer = await this.#txn(READ, { success: bite.map((read) => readOperation(read, revision)) })
      revision ??= answer.header.revision
      found.push(...answer.responses.map(({ response_range }) => foundOf(response_range!)))
    }
    return { revision: revision!, found: found.slice(0, reads.length) }
  }

  /** Resolves when it is stopped, rejects when the stream ends by itself. */
  async #follow(request: Operation, signal: AbortSignal, onAnswer: (answer: WatchAnswer) => void): Promise<void> {
    const ended = Promise.withResolvers<void>()
    const onMessage = (bytes: Buffer): void => {
      const answer = decode<WatchAnswer>(bytes, WATCHING.answers)
      onAnswer(answer)
      // The stream would stay open.
      if (answer.canceled) throw new Error('the watch was cancelled')
    }
    const stop = await this.#link.stream(WATCHING, { create_request: request }, onMessage, ended.reject)
    const end = (): void => {
      stop()
      ended.resolve()
    }
    signal.addEventListener('abort', end, { once: true })
    try {
      if (signal.aborted) end()
      await ended.promise
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  async #txn(method: typeof TXN, message: Operation): Promise<TxnAnswer> {
    const before = this.#revision
    if (this.#replaced !== null) throw this.#replaced
    const answer = await this.#call<TxnAnswer>(() => this.#link.call(method, message))
    await this.#checkHeader(answer.header, before)
    return answer
  }

  async #call<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask()
    } catch (error) {
      if (isLeaseGone(error)) throw new LeaseEnded('the lease has ended', { cause: error })
      if (isCompacted(error)) throw new RevisionGone('the revision was compacted', { cause: error })
      throw this.#link.translate(error)
    }
  }

  /** Reads and writes are linearizable: no answer is older than what was seen before it was asked for. */
  async #checkHeader({ revision }: Header, before: number): Promise<void> {
    if (revision < before) {
      const isFirst = this.#replaced === null
      this.#replaced ??= new StoreError(
        'STORE_REPLACED',
        `${this.name} went back in time, from revision ${before} to ${revision}: it was restored from a snapshot, or replaced.`,
        {
          hint: 'Stop all instances, then run cronce adopt once: see https://github.com/cronce/cronce/blob/main/docs/etcd.md.',
          notApplied: false,
        },
      )
      const unchecked = new EtcdDriver(this.#link, this.#keeper, this.#home)
      if (isFirst) await this.#onReplaced(unchecked).catch(() => {})
      throw this.#replaced
    }
    this.#revision = Math.max(this.#revision, revision)
  }

  #silent(): Error {
    return new StoreError('STORE_SILENT', `${this.name} did not answer a watch in time.`, {
      hint: 'Check that the cluster has a leader and is not overloaded.',
    })
  }
}

/** As many as fit in one request, beside puts that are nested like theirs. */
function fittingGroups(groups: readonly Group[], puts: readonly Put[], guards: number, beside: number): number {
  let deepest = depthOf({ guards: [], puts, deletes: [] })
  let bytes = 0
  for (const [index, group] of groups.entries()) {
    deepest = Math.max(deepest, depthOf(group))
    bytes += sizeOf(group)
    const operations = Math.max(index + 1 + beside, guards)
    if (index > 0 && (operations + deepest > MOST_OPERATIONS || bytes > MOST_BYTES)) return index
  }
  return groups.length
}

/** The operations, or guards, of all its levels together. */
function depthOf(group: Group): number {
  let below = 0
  let count = countOperations(group)
  for (; count > NESTED; count = Math.ceil(count / NESTED)) below += NESTED
  return Math.max(count, group.guards.length) + below
}

function countOperations({ puts, deletes, clears = [] }: Group): number {
  return puts.length + deletes.length + clears.length
}

const OVERHEAD_BYTES = 20

function sizeOf({ puts, deletes, guards }: Group): number {
  let size = 100 * guards.length
  for (const { key, value } of puts) size += key.length + Buffer.byteLength(value) + OVERHEAD_BYTES
  for (const key of deletes) size += key.length + OVERHEAD_BYTES
  return size
}

function groupOperation(group: Group): Operation {
  const { puts, deletes, clears = [], guards } = group
  const operations = [
    ...puts.map(putOperation),
    ...deletes.map((key) => ({ request_delete_range: { key } })),
    ...clears.map(({ from, to }) => ({ request_delete_range: { key: from, range_end: to } })),
  ]
  return { request_txn: { compare: guards.map(compareOf), success: nest(operations) } }
}

function nest(operations: readonly Operation[]): readonly Operation[] {
  if (operations.length <= NESTED) return operations
  const parts: Operation[] = []
  for (let start = 0; start < operations.length; start += NESTED) {
    parts.push({ request_txn: { success: operations.slice(start, start + NESTED) } })
  }
  return nest(parts)
}

function putOperation({ key, value, lease }: Put): Operation {
  return { request_put: { key, value, lease } }
}

function readOperation(read: Read, revision?: number): Operation {
  if ('get' in read) return { request_range: { key: read.get, revision } }
  const { from, to, limit, reverse = false, keysOnly, countOnly } = read
  // By key, descending.
  const sorted = reverse ? { sort_order: 2, sort_target: 0 } : {}
  const wanted = { keys_only: keysOnly, count_only: countOnly }
  return { request_range: { key: from, range_end: to, limit, revision, ...sorted, ...wanted } }
}

function foundOf({ kvs, count }: RangeAnswer): Found {
  const entries = kvs.map(({ key, value, mod_revision, version }) => ({ key, value, revision: mod_revision, version }))
  return { entries, count }
}

// What a guard compares, and how.
const [EQUAL, GREATER, LESS] = [0, 1, 2]
const [VERSION, CREATED, MODIFIED] = [0, 1, 2]

function compareOf(guard: Guard): Operation {
  switch (guard.is) {
    case 'absent':
      return { result: EQUAL, target: CREATED, key: guard.key, create_revision: 0 }
    case 'present':
      return { result: GREATER, target: CREATED, key: guard.key, create_revision: 0 }
    case 'revision':
      return { result: EQUAL, target: MODIFIED, key: guard.key, mod_revision: guard.revision }
    case 'version':
      return { result: EQUAL, target: VERSION, key: guard.key, version: guard.version }
    case 'empty':
      return { result: EQUAL, target: CREATED, ...rangeOf(guard.range), create_revision: 0 }
    case 'quiet':
      return { result: LESS, target: MODIFIED, ...rangeOf(guard.range), mod_revision: guard.revision + 1 }
  }
}

function rangeOf({ from, to }: KeyRange): Operation {
  return { key: from, range_end: to }
}
