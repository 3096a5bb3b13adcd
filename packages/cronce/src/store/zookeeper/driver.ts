import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ClockBounds,
  type Commit,
  type Committed,
  type Found,
  type Group,
  type KeyRange,
  type KvDriver,
  LeaseEnded,
  type Read,
  RevisionGone,
  type ServerIdentity,
  type Snapshot,
  type Written,
} from '../kv/driver.ts'
import type { ServerClock } from '../kv/server-clock.ts'
import { partlyApplied } from '../store-error.ts'
import { CommitLog } from './commit-log.ts'
import { busy, tooLarge, translate } from './errors.ts'
import type { Layout } from './layout.ts'
import type { LeaseSessions } from './leases.ts'
import {
  ERROR,
  exists,
  getData,
  type MultiAnswer,
  multi,
  type Node,
  type Operation,
  type Stat,
  setData,
  ZooKeeperError,
} from './messages.ts'
import { lookForCommit, operationsFor, type Seen, sizeOf } from './plan-commit.ts'
import { Rooted } from './rooted.ts'
import type { Session, Target } from './session.ts'
import { type Looks, type Snapshot as Moment, Snapshots } from './snapshot.ts'
import { Turns } from './turns.ts'
import { lookAt } from './view.ts'

/** A server takes requests of up to 1 MB (`jute.maxbuffer`). */
const MOST_BYTES = 900_000
const MOST_PAUSE_MS = 20
/** The leader tells its time to the millisecond. */
const CLOCK_SPAN_MS = 1
/** Below this, the clock is known well. */
const SHARP_MS = 10
const SHARPEN_TRIES = 10
const KEEP_CLOCK_MS = 10_000
const WATCH_AGAIN_MS = 200
/** A server that is behind for longer was restored from a copy. */
const BEHIND_MS = 30_000

export interface ZooKeeperParts {
  readonly target: Target
  readonly session: Session
  readonly leases: LeaseSessions
  readonly layout: Layout
  readonly clock: ServerClock
  /** What all keys begin with. */
  readonly root: string
  /** Keys whose history is kept for a while. */
  readonly logged: KeyRange
}

/**
 * Keys on ZooKeeper. Every commit of a namespace counts up one node, `rev`, in the same transaction, and only if that is as it was when
 * everything that the commit depends on was read. So commits are one after the other, whichever process they come from.
 */
export class ZooKeeperDriver implements KvDriver {
  readonly name: string
  readonly #parts: ZooKeeperParts
  readonly #rooted: Rooted
  readonly #snapshots: Snapshots
  readonly #log: CommitLog
  readonly #keepClock: NodeJS.Timeout
  /** Commits of this process do not race each other. */
  readonly #turns = new Turns()
  #revision = 0
  #behindSince: number | null = null
  #observedAt = Number.NEGATIVE_INFINITY
  #onReplaced: ((unchecked: KvDriver) => Promise<void>) | null = null

  constructor(parts: ZooKeeperParts) {
    this.name = parts.target.name
    this.#parts = parts
    this.#rooted = new Rooted(parts.root)
    this.#snapshots = new Snapshots(parts.session, parts.layout, parts.target)
    this.#log = new CommitLog(parts.layout, this.#rooted.range(parts.logged))
    this.#keepClock = setInterval(() => void this.#refreshClock(), KEEP_CLOCK_MS / 2)
    this.#keepClock.unref()
  }

  clock(): ClockBounds {
    return this.#parts.clock.bounds()
  }

  async sharpen(mostMs: number): Promise<void> {
    const deadline = performance.now() + mostMs
    for (let tries = 0; tries < SHARPEN_TRIES && this.#parts.clock.width > SHARP_MS; tries++) {
      if (performance.now() >= deadline) return
      await this.askTime().catch(() => {})
    }
  }

  async askTime(): Promise<void> {
    const { session, layout, target } = this.#parts
    const sentAt = performance.now()
    const [reply] = await session.send([setData(layout.own('clock'), Buffer.alloc(0))], target.timeoutMs)
    if ('error' in reply!) throw reply.error
    this.#observe(reply!.answer as Stat, sentAt)
  }

  async read(reads: readonly Read[], at?: number): Promise<Snapshot> {
    const { layout } = this.#parts
    const relative = reads.map((read) => this.#rooted.read(read))
    const { revision, results } = await this.#take(() => relative.map((read) => lookAt(layout, read)))
    // The server keeps no history: this works as long as nothing is written.
    if (at !== undefined && at !== revision) throw new RevisionGone(`revision ${at} is gone`)
    return { revision, found: results.map((found) => this.#rooted.found(found)) }
  }

  async commit(given: Commit): Promise<Committed> {
    const commit = this.#rooted.commit(given)
    const { reads = [], isUrgent = false } = given
    // From here on, not from its turn on: what its caller has given up is not sent.
    const deadline = performance.now() + this.#parts.target.timeoutMs
    const committed = await this.#turns.run(isUrgent, () => this.#commit(commit, deadline))
    const { isHeld, revision, written, guarded } = committed
    // Keys that it depends on and does not write are as it has read them.
    const isWritten = new Set([...commit.puts, ...commit.groups.flatMap((group) => group.puts)].map(({ key }) => key))
    for (const key of commit.groups.flatMap((group) => group.deletes)) isWritten.add(key)
    const known = reads.map((read) => {
      const key = 'get' in read ? this.#rooted.key(read.get) : null
      return key === null || isWritten.has(key) || !guarded.has(key) ? null : { entry: guarded.get(key) }
    })
    if (known.every((one) => one !== null)) {
      const found = known.map(({ entry }) => (entry === undefined ? NONE : { entries: [entry], count: 1 }))
      return { isHeld, revision, written, found: found.map((one) => this.#rooted.found(one)) }
    }
    try {
      return { isHeld, revision, written, found: (await this.read(reads)).found }
    } catch (error) {
      throw isHeld ? partlyApplied(error) : error
    }
  }

  async grant(ttlMs: number): Promise<string> {
    return this.#translated(() => this.#parts.leases.grant(ttlMs), false)
  }

  async keepAlive(lease: string): Promise<boolean> {
    return this.#translated(() => this.#parts.leases.keepAlive(lease), false)
  }

  watch(key: string, onValue: (value: string) => void, onBack: () => void): () => void {
    const stopped = new AbortController()
    const { layout } = this.#parts
    const path = layout.leaf(this.#rooted.key(key))
    const follow = async (): Promise<void> => {
      let version: number | null = null
      for (let isFirst = true; !stopped.signal.aborted; ) {
        try {
          const change = this.#nextChange(path, stopped.signal)
          const node = await this.#arm(path)
          if (!isFirst && version === null) onBack()
          else if (node !== null && node.stat.version !== version && !isFirst) {
            // Of several writes only the last is seen: which is not for one of the others to ignore.
            onValue(node.stat.version === version! + 1 ? textOf(node) : '')
          }
          version = node?.stat.version ?? NEVER
          isFirst = false
          if ((await change) === 'lost') version = null
        } catch {
          version = null
          await sleep(WATCH_AGAIN_MS, undefined, { ref: false, signal: stopped.signal }).catch(() => {})
        }
      }
    }
    void follow()
    return () => stopped.abort()
  }

  async changes(range: KeyRange, after: number, until: number): Promise<readonly Written[] | null> {
    if (until <= after) return []
    const { results } = await this.#take(() => [this.#log.look(after, until)])
    const inside = this.#rooted.range(range)
    return results[0] === null ? null : this.#rooted.written(results[0], inside)
  }

  async identify(): Promise<ServerIdentity> {
    const { session, layout, target } = this.#parts
    return this.#translated(async () => {
      const [reply] = await session.send([exists(layout.root)], target.timeoutMs)
      if ('error' in reply!) throw reply.error
      // The upper half of a transaction's number is the leader's term.
      return { cluster: String((reply!.answer as Stat).createdBy), term: Number(session.zxid >> 32n) }
    }, false)
  }

  onReplaced(listener: (unchecked: KvDriver) => Promise<void>): void {
    this.#onReplaced = listener
  }

  async close(): Promise<void> {
    clearInterval(this.#keepClock)
    await this.#parts.leases.close()
    await this.#parts.session.close(true)
  }

  async #commit(commit: Commit, deadline: number): Promise<Omit<Committed, 'found'> & Pick<Seen, 'guarded'>> {
    const { layout } = this.#parts
    if (performance.now() >= deadline) throw busy(this.name)
    for (let tries = 1; ; tries++) {
      const moment = await this.#take(() => [lookForCommit(layout, commit), this.#log.lookForEnd()], deadline)
      const { revision, results } = moment
      const [seen, logEnd] = results
      const { guarded } = seen
      if (!seen.isHeld) return { isHeld: false, revision, written: [], guarded }
      const written = await this.#write(commit, moment, { seen, logEnd, deadline })
      if (written !== null) return { isHeld: true, guarded, ...written }
      if (performance.now() >= deadline) throw busy(this.name)
      await sleep(Math.random() * Math.min(2 * tries, MOST_PAUSE_MS))
    }
  }

  /** `null`: another commit came in between. */
  async #write(
    { puts, groups }: Commit,
    moment: Moment<unknown>,
    { seen, logEnd, deadline }: { readonly seen: Seen; readonly logEnd: number; readonly deadline: number },
  ): Promise<{ revision: number; written: boolean[] } | null> {
    const { layout } = this.#parts
    const revision = moment.revision + 1
    const session = this.#sessionFor(puts)
    const writing = { layout, revision, owner: session.id }
    const plan = (count: number): Operation[] => {
      const held = groups.slice(0, count).filter((_, index) => seen.groupsHeld[index])
      const all = [...puts, ...held.flatMap((group) => group.puts)]
      const deleted = held.flatMap((group) => group.deletes)
      return [
        ...operationsFor(writing, puts, held, seen),
        ...this.#log.operations(revision, all, [...deleted, ...clearedBy(held, seen)], logEnd),
      ]
    }
    const count = fitting(groups.length, (some) => sizeOf(plan(some)))
    const operations = plan(count)
    const bytes = sizeOf(operations)
    if (bytes > MOST_BYTES) throw tooLarge(this.name, bytes)
    const written = seen.groupsHeld.slice(0, count)
    if (operations.length === 0) return { revision: moment.revision, written }
    const counted: Operation = {
      ...{ op: 'setData', path: layout.own('rev'), data: Buffer.from(String(revision)) },
      version: moment.version,
    }
    const isWritten = await this.#send(session, [counted, ...operations], deadline)
    if (!isWritten) return null
    this.#revision = Math.max(this.#revision, revision)
    return { revision, written }
  }

  #sessionFor(puts: Commit['puts']): Session {
    const lease = puts.find((put) => put.lease !== undefined)?.lease
    const session = lease === undefined ? this.#parts.session : this.#parts.leases.sessionOf(lease)
    if (session === null) throw new LeaseEnded('the session of the lease has ended')
    return session
  }

  /** Sent once, whatever becomes of it. False: something has changed, and nothing was written. */
  async #send(session: Session, operations: readonly Operation[], deadline: number): Promise<boolean> {
    const { target } = this.#parts
    const access = target.user === null ? 'everyone' : 'user'
    const sentAt = performance.now()
    if (sentAt >= deadline) throw busy(this.name)
    try {
      const [reply] = await session.send([multi(operations, access)], deadline - sentAt)
      const answer = reply as { answer?: MultiAnswer; error?: ZooKeeperError }
      if (answer.error !== undefined && !RETRIED.has(answer.error.code)) throw answer.error
      if (answer.answer === undefined) return false
      if ('stats' in answer.answer) {
        this.#observe(answer.answer.stats[0]!, sentAt)
        return true
      }
      if (RETRIED.has(answer.answer.code)) return false
      throw new ZooKeeperError(answer.answer.code)
    } catch (error) {
      const isExpired = error instanceof ZooKeeperError && error.code === ERROR.sessionExpired
      if (isExpired && session !== this.#parts.session) throw new LeaseEnded('the session has ended', { cause: error })
      throw translate(error, this.name, true)
    }
  }

  async #take<Results extends readonly unknown[]>(
    start: () => Looks<Results>,
    deadline = performance.now() + this.#parts.target.timeoutMs,
  ): Promise<Moment<Results>> {
    const least = this.#revision
    try {
      const moment = await this.#snapshots.take(start, least, deadline)
      this.#revision = Math.max(this.#revision, moment.revision)
      this.#behindSince = null
      return moment
    } catch (error) {
      const failure = translate(error, this.name, false)
      if (failure.code === 'STORE_REPLACED') await this.#noteReplaced()
      throw failure
    }
  }

  /** A server may be behind for a moment, while another one leads. */
  async #noteReplaced(): Promise<void> {
    const now = performance.now()
    this.#behindSince ??= now
    if (now - this.#behindSince < BEHIND_MS || this.#onReplaced === null) return
    const tell = this.#onReplaced
    this.#onReplaced = null
    const unchecked = new ZooKeeperDriver(this.#parts)
    await tell(unchecked).catch(() => {})
    clearInterval(unchecked.#keepClock)
  }

  /** Ends the wait of a watch: the node was written, or the watch is lost. */
  #nextChange(path: string, stopped: AbortSignal): Promise<'written' | 'lost'> {
    return new Promise((resolve) => {
      const end = (how: 'written' | 'lost'): void => {
        stop()
        resolve(how)
      }
      const stop = this.#parts.session.onEvent((changed) => {
        if (changed === null || changed === path) end(changed === null ? 'lost' : 'written')
      })
      stopped.addEventListener('abort', () => end('lost'), { once: true })
    })
  }

  /** The node, and a watch for its next write. */
  async #arm(path: string): Promise<Node | null> {
    const { session, target } = this.#parts
    const requests = [getData(path, true), exists(path, true)]
    const [reply, other] = await session.send(requests, target.timeoutMs)
    if ('answer' in reply!) return reply.answer as Node
    if (reply!.error.code !== ERROR.noNode || ('error' in other! && other.error.code !== ERROR.noNode))
      throw reply!.error
    return null
  }

  #observe({ modifiedAt }: Stat, sentAt: number): void {
    const now = performance.now()
    this.#observedAt = now
    this.#parts.clock.observe(modifiedAt, sentAt, now, CLOCK_SPAN_MS)
  }

  async #refreshClock(): Promise<void> {
    if (performance.now() - this.#observedAt < KEEP_CLOCK_MS) return
    await this.askTime().catch(() => {})
  }

  async #translated<Answer>(ask: () => Promise<Answer>, mayHaveWritten: boolean): Promise<Answer> {
    try {
      return await ask()
    } catch (error) {
      throw translate(error, this.name, mayHaveWritten)
    }
  }
}

const NONE: Found = { entries: [], count: 0 }

/** Version of a watched node that is not there: its first write is number 0. */
const NEVER = -1

/** Nothing was written because a node is not as it was read. A folder may have gone, and a session may have moved. */
const RETRIED: ReadonlySet<number> = new Set([
  ...[ERROR.badVersion, ERROR.noNode, ERROR.nodeExists, ERROR.notEmpty, ERROR.sessionMoved],
])

function textOf({ data }: Node): string {
  const text = data.toString()
  return text.slice(text.indexOf('\n') + 1)
}

function clearedBy(groups: readonly Group[], seen: Seen): string[] {
  return groups.flatMap(({ clears = [] }) => clears.flatMap((range) => seen.cleared.get(range)!))
}

/** As many as fit, at least one. */
function fitting(most: number, size: (count: number) => number): number {
  let count = most
  while (count > 1 && size(count) > MOST_BYTES) count = Math.ceil(count / 2)
  return count
}
