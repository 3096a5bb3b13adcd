import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEtcd, startZooKeeper } from '../../../../scripts/servers/index.ts'
import type { Commit, Entry, Found, Group, Guard, KeyRange, KvDriver, Put, Read } from '../../src/store/kv/driver.ts'
import { encodeNumber, Keys } from '../../src/store/kv/keys.ts'
import * as etcdKit from './etcd-kit.ts'
import { ModelServer } from './kv-model.ts'
import { type Random, randomFrom } from './random-kit.ts'
import * as zooKeeperKit from './zookeeper-kit.ts'

// A driver and the model of a server are told the same, and must answer the same. What holds for the store on the model holds on a server
// whose driver does.

const { CRONCE_CASES = '1', CRONCE_LONG, CRONCE_SEED = '20261118' } = process.env
const STEPS = (CRONCE_LONG === '1' ? 400 : 40) * Number(CRONCE_CASES)
const NAMESPACE = 'drivers'
const KEYS = new Keys('cronce', NAMESPACE)

/** Of every kind that a driver may lay out in a way of its own: times, names, lists, and names that look like separators. */
const NAMES = ['a', 'a b', 'ä/..', 'a\0b']
const TIMES = [-1, 0, 1_767_268_800_000, 1_767_268_800_001, 1_767_279_600_000].map(encodeNumber)
const UNIVERSE: readonly string[] = [
  KEYS.meta,
  KEYS.lineBell,
  ...NAMES.map((name) => KEYS.state(name)),
  ...NAMES.flatMap((name) =>
    TIMES.map((time) => KEYS.key('f', ...KEYS.parts(KEYS.state(name)).slice(1), time, '', time)),
  ),
  ...TIMES.map((time) => KEYS.key('q', 'job', time, '00a')),
  ...TIMES.map((time) => KEYS.key('l', 'a', time, 'a', '', TIMES[0]!)),
  ...TIMES.map((time) => KEYS.key('x', time, 'a', time, '', TIMES[0]!)),
]
const RANGES: readonly KeyRange[] = [
  ...NAMES.map((name) => KEYS.below('f', ...KEYS.parts(KEYS.state(name)).slice(1))),
  KEYS.below('s'),
  KEYS.below('q', 'job'),
  { from: KEYS.key('q', 'job', TIMES[1]!), to: KEYS.key('q', 'job', TIMES[3]!) },
  { from: KEYS.key('x', ''), to: KEYS.key('x', TIMES[2]!) },
  { from: KEYS.lineBell, to: KEYS.below('f').to },
]

/** The store asks for the revision of a key that it has read, never for that of an absent one. */
const NEVER = 999_999_999

/** A driver, and the revision of each write so far by its number. */
class Side {
  readonly driver: KvDriver
  readonly revisions: number[] = [0]

  constructor(driver: KvDriver) {
    this.driver = driver
  }

  numberOf({ revision }: Entry): number {
    return this.revisions.indexOf(revision)
  }
}

/** What is drawn, with the number of a write in the place of a revision. */
type Drawn = (side: Side) => Guard

class Drawing {
  readonly #random: Random
  writes = 0

  constructor(random: Random) {
    this.#random = random
  }

  one<Item>(items: readonly Item[]): Item {
    return items[this.#random(items.length)]!
  }

  few<Item>(items: readonly Item[], most: number): Item[] {
    return [...new Set(Array.from({ length: this.#random(most + 1) }, () => this.one(items)))]
  }

  guard(): Drawn {
    const [key, range] = [this.one(UNIVERSE), this.one(RANGES)]
    const write = Math.max(0, this.writes - 1 - this.#random(6))
    const version = this.#random(4)
    return this.one<Drawn>([
      () => ({ key, is: 'absent' }),
      () => ({ key, is: 'present' }),
      () => ({ key, is: 'version', version }),
      ({ revisions }) => ({ key, is: 'revision', revision: revisions[write] || NEVER }),
      () => ({ range, is: 'empty' }),
      ({ revisions }) => ({ range, is: 'quiet', revision: revisions[write]! }),
    ])
  }

  /** No key is written twice. */
  commit(): (side: Side) => Commit {
    const free = new Set(UNIVERSE)
    const value = String(++this.writes)
    // Always one: a driver need not count a commit that writes nothing.
    const puts = [KEYS.wake, ...this.#take(free, 2)].map((key): Put => ({ key, value }))
    const groups = Array.from({ length: this.#random(4) }, () => {
      const clears = this.#random(6) === 0 ? this.#clear(free) : []
      const [written, deletes] = [this.#take(free, 3), this.#take(free, 2)]
      const guards = Array.from({ length: this.#random(3) }, () => this.guard())
      return { guards, group: { puts: written.map((key) => ({ key, value })), deletes, clears } }
    })
    const guards = this.#random(4) === 0 ? [this.guard()] : []
    return (side) => ({
      guards: guards.map((drawn) => drawn(side)),
      puts,
      groups: groups.map(({ guards, group }): Group => ({ ...group, guards: guards.map((drawn) => drawn(side)) })),
    })
  }

  read(): Read {
    if (this.#random(3) === 0) return { get: this.one(UNIVERSE) }
    const more: Partial<Exclude<Read, { get: string }>> = this.one([
      {},
      { limit: 2 },
      { limit: 3, reverse: true },
      { reverse: true },
      { limit: 1, keysOnly: true },
      { countOnly: true },
    ])
    return { ...this.one(RANGES), ...more }
  }

  #take(free: Set<string>, most: number): string[] {
    const taken = this.few([...free], most)
    for (const key of taken) free.delete(key)
    return taken
  }

  /** No other part of the commit writes there. */
  #clear(free: Set<string>): KeyRange[] {
    const range = this.one(RANGES)
    const inside = UNIVERSE.filter((key) => key >= range.from && key < range.to)
    if (inside.some((key) => !free.has(key))) return []
    for (const key of inside) free.delete(key)
    return [range]
  }
}

function shown(side: Side, read: Read, { entries, count }: Found): unknown {
  const isKeysOnly = 'keysOnly' in read && read.keysOnly === true
  const isLimited = 'limit' in read
  return {
    entries: entries.map((entry) => {
      return isKeysOnly ? entry.key : [entry.key, entry.value, entry.version, side.numberOf(entry)]
    }),
    count: isLimited ? count > entries.length : count,
  }
}

async function compare(driver: KvDriver): Promise<void> {
  const sides = [new Side(driver), new Side(new ModelServer({ now: Date.now }).driver())] as const
  const drawing = new Drawing(randomFrom(Number(CRONCE_SEED)))
  const seen = { held: 0, refused: 0, written: 0, unwritten: 0, entries: 0 }
  for (let step = 0; step < STEPS; step++) {
    const commit = drawing.commit()
    const reads = [{ get: drawing.one(UNIVERSE) }, ...drawing.few(RANGES, 1)]
    const answers = []
    for (const side of sides) {
      const { isHeld, written, revision, found } = await side.driver.commit({ ...commit(side), reads })
      side.revisions.push(isHeld ? revision : side.revisions.at(-1)!)
      answers.push({ isHeld, written, found: found.map((one, index) => shown(side, reads[index]!, one)) })
    }
    const [real, model] = answers as [(typeof answers)[number], (typeof answers)[number]]
    assert.deepEqual(real, model, `step ${step}`)
    seen[model.isHeld ? 'held' : 'refused']++
    for (const isWritten of model.written) seen[isWritten ? 'written' : 'unwritten']++
    const wanted = Array.from({ length: 3 }, () => drawing.read())
    const [one, other] = await Promise.all(
      sides.map(async (side) => {
        const { found } = await side.driver.read(wanted)
        return found.map((each, index) => shown(side, wanted[index]!, each))
      }),
    )
    assert.deepEqual(one, other, `reads of step ${step}: ${JSON.stringify(wanted)}`)
    seen.entries += JSON.stringify(other).length
  }
  for (const [what, count] of Object.entries(seen)) assert.ok(count > STEPS / 10, `${what}: ${count}`)
}

test(`the driver for etcd answers as the model of a server does (seed ${CRONCE_SEED})`, async () => {
  await using server = await startEtcd()
  const driver = etcdKit.driverAt(server.url)
  await compare(driver)
  await driver.close()
})

test(`the driver for ZooKeeper answers as the model of a server does (seed ${CRONCE_SEED})`, async () => {
  await using server = await startZooKeeper()
  const driver = await zooKeeperKit.driverAt(server.url, NAMESPACE)
  await compare(driver)
  await driver.close()
})
