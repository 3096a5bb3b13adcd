import type { InstanceRecord } from '../../model/instance.ts'
import type { CancelRequest, Instant } from '../../model/schedule.ts'
import {
  type Beat,
  type BeatAnswer,
  ENDED_LOOKED,
  ENDED_SHOWN,
  type HeldRun,
  type InstanceMark,
  type InstanceQuery,
} from '../store.ts'
import { StoreError } from '../store-error.ts'
import { activityPuts } from './activity.ts'
import type { Context } from './context.ts'
import { type Entry, type Found, type Group, type Guard, LeaseEnded, type Put, type Read } from './driver.ts'
import { decodeName, decodeToken, encodeName, encodeNumber, type Keys } from './keys.ts'
import type { Leases } from './leases.ts'

type Described = Omit<InstanceRecord, 'renewals' | 'renewedAt' | 'expired' | 'drain' | 'endedAt'>

/** An instance as its key holds it. */
interface StoredInstance {
  readonly record: Described
  /** The number of its last heartbeat. */
  readonly beat: number
}

interface KnownInstance extends StoredInstance {
  readonly revision: number
}

const MOST_ROUNDS = 20
const BITE = 100
const DAY_MS = 86_400_000
/** How long an instance waits for a sharp clock before it joins, and at most as a part of its lease: half of that is left then. */
const SHARPEN_JOIN_MS = 3_000
const SHARPEN_PART = 1 / 2

/** The instances of a namespace: live, and over. */
export class Instances {
  readonly #context: Context
  readonly #leases: Leases
  readonly #wakePut: () => Put
  /** As this opening wrote them last. */
  readonly #known = new Map<string, KnownInstance>()

  constructor(context: Context, leases: Leases, wakePut: () => Put) {
    this.#context = context
    this.#leases = leases
    this.#wakePut = wakePut
  }

  async beat(given: Beat): Promise<BeatAnswer> {
    const { id } = given.instance
    // From here on this process claims, and stamps what it records.
    if (given.join) await this.#context.driver.sharpen(Math.min(SHARPEN_JOIN_MS, given.leaseMs * SHARPEN_PART))
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const known = this.#known.get(id) ?? (await this.#read(id))
      const isRefused = known === 'gone' || !isAccepted(known, given)
      if (isRefused && this.#known.delete(id)) continue
      const answer = isRefused
        ? await this.#context.driver.read(this.#peerReads(given)).then(({ found }) => found)
        : await this.#write(given, known)
      if (answer === null) continue
      const number = known === 'gone' ? null : (known?.beat ?? null)
      return this.#answer(answer, isRefused ? { alive: false, number } : { alive: true, number: beatOf(given, known) })
    }
    throw busy(this.#context)
  }

  /** `null`: something has moved, look again. */
  async #write(given: Beat, known: KnownInstance | undefined): Promise<readonly Found[] | null> {
    const { driver, identity, keys, time } = this.#context
    const { instance, leaseMs, join, wake = false } = given
    const name = encodeName(instance.id)
    const hasLeft = instance.state === 'left'
    const record: Described = { ...instance, startedAt: known?.record.startedAt ?? time.now() }
    const stored: StoredInstance = { record, beat: beatOf(given, known) }
    const key = keys.key('i', name)
    const guards: Guard[] =
      known === undefined
        ? [
            { key, is: 'absent' },
            { key: keys.key('g', name), is: 'absent' },
          ]
        : [{ key, is: 'revision', revision: known.revision }]
    try {
      const pulse = hasLeft ? await this.#pulse(instance.id) : null
      const puts = hasLeft
        ? []
        : [{ key, value: JSON.stringify(stored) }, ...(await this.#leases.renewal(instance.id, leaseMs))]
      if (join || wake || hasLeft) puts.push(this.#wakePut())
      const groups = pulse === null ? [] : [over(keys, record, pulse, time.now())]
      const reads = [{ get: keys.meta }, ...this.#peerReads(given)]
      const all = [identity.guard, ...guards]
      const answer = await driver.commit({ guards: all, puts, groups, reads, isUrgent: true })
      identity.refresh(answer.found[0]!.entries[0])
      this.#known.delete(instance.id)
      if (!answer.isHeld) return null
      if (hasLeft) this.#leases.forget(instance.id)
      else this.#known.set(instance.id, { ...stored, revision: answer.revision })
      return answer.found.slice(1)
    } catch (error) {
      if (!(error instanceof LeaseEnded)) throw error
      this.#leases.forget(instance.id)
      return null
    }
  }

  async #read(id: string): Promise<KnownInstance | 'gone' | undefined> {
    const { driver, keys } = this.#context
    const name = encodeName(id)
    const { found } = await driver.read([{ get: keys.key('i', name) }, { get: keys.key('g', name) }])
    const [entry, gone] = found.map(({ entries }) => entries[0])
    if (gone !== undefined) return 'gone'
    return entry && { ...(JSON.parse(entry.value) as StoredInstance), revision: entry.revision }
  }

  async #pulse(id: string): Promise<Pulse & { readonly drain: boolean }> {
    const { driver, keys } = this.#context
    const { found } = await driver.read(['iv', 'id'].map((kind) => ({ get: keys.key(kind, encodeName(id)) })))
    return { ...pulseOf(found[0]!.entries[0]), drain: found[1]!.entries.length > 0 }
  }

  #peerReads({ instance }: Beat): Read[] {
    const { keys, time } = this.#context
    const now = time.now()
    return [
      ...liveReads(keys),
      keys.below('r', encodeName(instance.id)),
      { get: keys.app(instance.app) },
      { ...keys.below('go'), keysOnly: true },
      { from: keys.key('x', ''), to: keys.key('x', encodeNumber(now + 1)), limit: 1, keysOnly: true },
      { from: keys.key('gt', ''), to: keys.key('gt', encodeNumber(now - DAY_MS + 1)), limit: BITE, keysOnly: true },
    ]
  }

  async #answer(found: readonly Found[], { alive, number }: Pick<BeatAnswer, 'alive' | 'number'>): Promise<BeatAnswer> {
    const { keys, identity, time } = this.#context
    const instances = liveInstances(keys, found)
    const [held, app, orphans, expiring, ended] = found.slice(LIVE_READS).map(({ entries }) => entries) as Entry[][]
    return {
      alive,
      number,
      now: time.now(),
      epoch: identity.epoch,
      lost: false,
      held: alive ? held!.map((entry) => heldRun(keys, entry)) : [],
      instances,
      chores: {
        appVersion: app![0]?.version ?? 0,
        orphans: await this.#orphans(orphans!, instances),
        prunable: expiring!.length > 0 || (await this.forgettable(ended!)).length > 0,
      },
    }
  }

  async mark(mark: InstanceMark): Promise<boolean> {
    return mark.kind === 'dead' ? this.#bury(mark) : this.#drain(mark)
  }

  async #drain({ instance, drain, activity }: InstanceMark & { readonly kind: 'drain' }): Promise<boolean> {
    const { keys } = this.#context
    const name = encodeName(instance)
    const key = keys.key('id', name)
    const puts = [this.#wakePut(), ...activityPuts(keys, activity)]
    const groups: Group[] = [{ guards: [], puts: drain ? [{ key, value: '' }] : [], deletes: drain ? [] : [key] }]
    const guards: Guard[] = [{ key: keys.key('i', name), is: 'present' }]
    return this.#commit({ guards, puts, groups }, async () => {
      const known = await this.#read(instance)
      return known !== undefined && known !== 'gone'
    })
  }

  async #bury({ instance, renewals, hint }: InstanceMark & { readonly kind: 'dead' }): Promise<boolean> {
    const { driver, keys, time } = this.#context
    const name = encodeName(instance)
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const reads = ['i', 'g', 'iv', 'ie', 'id'].map((kind) => ({ get: keys.key(kind, name) }))
      const [entry, gone, beating, lease, drained] = (await driver.read(reads)).found.map(({ entries }) => entries[0])
      if (entry === undefined) return gone !== undefined && (JSON.parse(gone.value) as GoneInstance).state === 'dead'
      const pulse = pulseOf(beating)
      if (pulse.renewals !== renewals || (lease !== undefined && !hint)) return false
      const { record } = JSON.parse(entry.value) as StoredInstance
      const guards: Guard[] = [
        { key: keys.key('i', name), is: 'present' },
        // No renewal and no claim since.
        { key: keys.key('iv', name), is: 'version', version: renewals + 1 },
        ...(hint ? [] : [{ key: keys.key('ie', name), is: 'absent' } as const]),
      ]
      const end = over(keys, { ...record, state: 'dead' }, { ...pulse, drain: drained !== undefined }, time.now())
      if (await this.#commit({ guards, puts: [], groups: [end] }, async () => false)) return true
    }
    throw busy(this.#context)
  }

  /** True if it was written. Again, if only the identity of the store stood in the way and `isWorthwhile`. */
  async #commit(
    { guards, puts, groups }: { guards: readonly Guard[]; puts: readonly Put[]; groups: readonly Group[] },
    isWorthwhile: () => Promise<boolean>,
  ): Promise<boolean> {
    const { driver, identity, keys } = this.#context
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const reads = [{ get: keys.meta }]
      const answer = await driver.commit({ guards: [identity.guard, ...guards], puts, groups, reads })
      identity.refresh(answer.found[0]!.entries[0])
      if (answer.isHeld) return true
      if (!(await isWorthwhile())) return false
    }
    throw busy(this.#context)
  }

  async list({ ids, app, ended = ENDED_SHOWN }: InstanceQuery = {}): Promise<InstanceRecord[]> {
    const { keys, driver } = this.#context
    const { found } = await driver.read([...liveReads(keys), { ...keys.below('go'), keysOnly: true }])
    const live = liveInstances(keys, found)
    const isOfApp = (record: InstanceRecord): boolean => app === undefined || record.app === app
    let records: InstanceRecord[]
    if (ids !== undefined) {
      const wanted = new Set(ids)
      const present = live.filter(({ id }) => wanted.has(id))
      for (const { id } of present) wanted.delete(id)
      records = [...present, ...(await this.#gone([...wanted]))]
    } else {
      const holding = await this.#orphans(found[LIVE_READS]!.entries, live)
      const idle = await this.#newestGone(new Set(holding), isOfApp, ended)
      records = [...live, ...(await this.#gone(holding)), ...idle]
    }
    return records.filter(isOfApp).sort((one, other) => (one.id < other.id ? -1 : 1))
  }

  async #newestGone(
    besides: ReadonlySet<string>,
    isWanted: (record: InstanceRecord) => boolean,
    most: number,
  ): Promise<InstanceRecord[]> {
    const { keys, driver } = this.#context
    const { from, to } = keys.below('gt')
    const records: InstanceRecord[] = []
    let before = to
    for (let looked = 0; records.length < most && looked < ENDED_LOOKED; looked += BITE) {
      const reads = [{ from, to: before, limit: BITE, reverse: true, keysOnly: true }]
      const { entries } = (await driver.read(reads)).found[0]!
      const ids = entries.map(({ key }) => decodeName(keys.parts(key)[2]!)).filter((id) => !besides.has(id))
      records.push(...(await this.#gone(ids)).filter(isWanted))
      if (entries.length < BITE) break
      before = entries.at(-1)!.key
    }
    return records.slice(0, most)
  }

  async #gone(ids: readonly string[]): Promise<InstanceRecord[]> {
    if (ids.length === 0) return []
    const { keys, driver } = this.#context
    const { found } = await driver.read(ids.map((id) => ({ get: keys.key('g', encodeName(id)) })))
    return found.flatMap(({ entries }) => entries.map(({ value }) => JSON.parse(value) as GoneInstance))
  }

  /** Of instances that may be orphans, those that are over and hold open runs. Those that hold nothing are no longer listed. */
  async #orphans(entries: readonly Entry[], live: readonly InstanceRecord[]): Promise<string[]> {
    const { keys, driver, identity } = this.#context
    const present = new Set(live.map(({ id }) => id))
    const ids = entries.map(({ key }) => decodeName(keys.parts(key)[1]!)).filter((id) => !present.has(id))
    if (ids.length === 0) return []
    const { found } = await driver.read(
      ids.flatMap((id): Read[] => [
        { ...keys.below('r', encodeName(id)), countOnly: true },
        { get: keys.key('g', encodeName(id)) },
      ]),
    )
    const idle = ids.filter((_, index) => found[2 * index]!.count === 0)
    const groups = idle.slice(0, BITE).map((id): Group => {
      const name = encodeName(id)
      return { guards: [{ range: keys.below('r', name), is: 'empty' }], puts: [], deletes: [keys.key('go', name)] }
    })
    if (groups.length > 0) await driver.commit({ guards: [identity.guard], puts: [], groups }).catch(() => {})
    return ids.filter((_, index) => found[2 * index]!.count > 0 && found[2 * index + 1]!.entries.length > 0)
  }

  /** Of instances by their end, those that hold nothing any more. */
  async forgettable(entries: readonly Entry[]): Promise<Entry[]> {
    const { keys, driver } = this.#context
    if (entries.length === 0) return []
    const reads = entries.map(({ key }) => ({ ...keys.below('r', keys.parts(key)[2]!), countOnly: true }))
    const { found } = await driver.read(reads)
    return entries.filter((_, index) => found[index]!.count === 0)
  }

  /** After the store was adopted: none of the original's instances is one of this store. */
  async buryAll(): Promise<void> {
    for (const { id, renewals } of await this.list({ ended: 0 })) {
      await this.#bury({ kind: 'dead', instance: id, renewals, hint: true })
    }
  }
}

type GoneInstance = InstanceRecord

const LIVE_READS = 4

function liveReads(keys: Keys): Read[] {
  return [
    keys.below('i'),
    keys.below('iv'),
    { ...keys.below('ie'), keysOnly: true },
    { ...keys.below('id'), keysOnly: true },
  ]
}

function liveInstances(keys: Keys, found: readonly Found[]): InstanceRecord[] {
  const nameOf = ({ key }: Entry): string => keys.parts(key)[1]!
  const pulses = new Map(found[1]!.entries.map((entry) => [nameOf(entry), entry]))
  const leased = new Set(found[2]!.entries.map(nameOf))
  const drained = new Set(found[3]!.entries.map(nameOf))
  return found[0]!.entries.map((entry) => {
    const name = nameOf(entry)
    const { record } = JSON.parse(entry.value) as StoredInstance
    const { renewals, at } = pulseOf(pulses.get(name))
    const expired = !leased.has(name)
    return { ...record, renewals, renewedAt: at, expired, drain: drained.has(name), endedAt: null }
  })
}

/** How often, and when last, an instance renewed its lease, by a heartbeat or a claim. */
interface Pulse {
  readonly renewals: number
  readonly at: Instant
}

/** The version of the key counts the renewals. */
function pulseOf(entry: Entry | undefined): Pulse {
  return entry === undefined ? { renewals: 0, at: 0 } : { renewals: entry.version - 1, at: Number(entry.value) }
}

/** It left or was declared dead: for ever. Not before its last claim, by whichever clock that was written. */
function over(
  keys: Keys,
  described: Described,
  { renewals, at, drain }: Pulse & { readonly drain: boolean },
  now: Instant,
): Group {
  const name = encodeName(described.id)
  const endedAt = Math.max(now, at)
  const record: GoneInstance = { ...described, renewals, renewedAt: at, expired: true, drain, endedAt }
  return {
    guards: [],
    puts: [
      { key: keys.key('g', name), value: JSON.stringify(record) },
      { key: keys.key('gt', encodeNumber(endedAt), name), value: '' },
      { key: keys.key('go', name), value: '' },
    ],
    deletes: ['i', 'iv', 'ie', 'id'].map((kind) => keys.key(kind, name)),
  }
}

function isAccepted(known: KnownInstance | undefined, { join, sequence }: Beat): boolean {
  if (known === undefined || join) return join
  return sequence === undefined || (sequence.after <= known.beat && known.beat < sequence.number)
}

function beatOf({ sequence }: Beat, known: KnownInstance | undefined): number {
  return Math.max(sequence?.number ?? 0, known?.beat ?? 0)
}

function heldRun(keys: Keys, { key, value }: Entry): HeldRun {
  const [, , schedule, token] = keys.parts(key)
  const [claim, cancel] = JSON.parse(value) as [number, CancelRequest | null]
  return { schedule: decodeName(schedule!), token: decodeToken(token!), claim, cancel }
}

function busy({ driver }: Context): StoreError {
  return new StoreError('STORE_BUSY', `Other processes changed ${driver.name} before every write.`, {
    hint: 'Try again.',
  })
}
