import assert from 'node:assert/strict'
import { redisCommand, type Server } from '../../../../scripts/servers/index.ts'
import { memory, type NamespaceData } from '../../src/memory.ts'
import { bucketOf } from '../../src/model/bucket.ts'
import type { FireRecord } from '../../src/model/record.ts'
import { slotOf } from '../../src/store/redis/clients/slot.ts'
import { encodeName, fireName, namespaceKey } from '../../src/store/redis/keys.ts'
import { redis } from '../../src/store/redis/redis.ts'
import type { Store } from '../../src/store/store.ts'
import { decideIn, HOUR_MS } from '../../src/testing/conformance/samples.ts'

export type Random = (below: number) => number

export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Both stores, what is in them, and a time that is hours away from all that is judged by it. */
export interface Twins {
  readonly random: Random
  readonly stores: readonly [real: Store, model: Store]
  readonly data: NamespaceData
  readonly base: number
  readonly seen: Set<string>
  one<Item>(items: readonly Item[]): Item
  /** Ask both the same. Answers what they agree on. */
  ask<Answer>(what: string, question: (store: Store) => Promise<Answer>): Promise<Answer>
}

/** Real time passes between two questions: moments are not compared. A change that is sent again renews again. */
const MOMENTS = new Set(['now', 'renewedAt', 'renewals', 'begunAt'])

function withoutMoments(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMoments)
  if (typeof value !== 'object' || value === null) return value
  const own = 'begunAt' in value ? 'endedAt' : 'renewals' in value ? 'startedAt' : ''
  const kept = Object.entries(value).filter(([name]) => !MOMENTS.has(name) && name !== own)
  return Object.fromEntries(kept.map(([name, item]) => [name, withoutMoments(item)]))
}

export async function openTwins(server: Server, random: Random, namespace: string, seen: Set<string>): Promise<Twins> {
  const options = { namespace, adopt: false, production: false, warn: () => {} }
  const real = (await redis(server.url).open(options)) as Store
  let { now } = await real.load([])
  const epoch = real.info.epoch
  decideIn(epoch)
  const data = { epoch, namespaces: new Map(), effects: new Map() }
  const source = memory({ clock: { wall: () => now }, data })
  const model = (await source.open(options)) as Store
  const base = now - (now % HOUR_MS)
  return {
    random,
    stores: [real, model],
    data: source.data.namespaces.get(namespace)!,
    base,
    seen,
    one: (items) => items[random(items.length)]!,
    async ask(what, question) {
      const answer = await question(real)
      now = (await real.load([])).now
      assert.deepEqual(withoutMoments(answer), withoutMoments(await question(model)), what)
      return answer
    },
  }
}

/** In any order. */
export function sortHeld<
  Answer extends { readonly held: readonly { readonly token: string; readonly schedule: string }[] },
>(answer: Answer): Answer {
  return { ...answer, held: byText(answer.held) }
}

/** Where the order among equals is the store's affair, or the properties of a record. */
export function byText<Item>(items: readonly Item[]): Item[] {
  const text = (item: Item) => JSON.stringify(NAMES.map((name) => (item as Record<string, unknown>)[name]))
  return items.toSorted((one, other) => (text(one) < text(other) ? -1 : 1))
}

const NAMES = ['id', 'schedule', 'dueAt', 'nonce', 'token', 'step']

interface Paged<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

/** All pages, in the order of `placeOf`. */
export async function all<Item>(
  list: (after: string | null) => Promise<Paged<Item>>,
  placeOf: (item: Item) => number,
): Promise<Item[]> {
  const items: Item[] = []
  for (let after: string | null = null, pages = 0; pages < 500; pages++) {
    const page: Paged<Item> = await list(after)
    items.push(...page.items)
    after = page.next
    if (after !== null) continue
    const places = items.map(placeOf)
    const sorted = places.toSorted((one, other) => one - other)
    assert.deepEqual(places, sorted)
    return byText(items)
  }
  return assert.fail('paging does not end')
}

/** What is there is what the records call for, and nothing else. */
export async function compareKeys(server: Server, namespace: string, { data }: Twins, when: string): Promise<void> {
  const [actual, expected] = [await actualKeys(server, namespace), expectedKeys(data)]
  for (const name of new Set([...actual.keys(), ...expected.keys()])) {
    assert.deepEqual([...(actual.get(name) ?? [])].sort(), [...(expected.get(name) ?? [])].sort(), `${name} (${when})`)
  }
}

/** Every key there is, and the names in it, as the records call for. */
function expectedKeys(data: NamespaceData): Map<string, Set<string>> {
  const keys = new Map<string, Set<string>>()
  const put = (key: string, ...members: readonly (string | number)[]): void => {
    const known = keys.get(key) ?? new Set()
    keys.set(key, known.add(members.join(' ')))
  }
  for (const state of data.schedules.values()) {
    const id = encodeName(state.id)
    const { job, tenant } = state.definition
    for (const field of ['h', 's', 'd']) put(`schedule:${id}`, field)
    put('names', id, 0)
    put(`names:job:${encodeName(job)}`, id, 0)
    if (tenant !== null) put(`names:tenant:+${encodeName(tenant)}`, id, 0)
    if (state.source.kind === 'code') put(`names:app:+${encodeName(state.source.app)}`, id, 0)
    const bucket = bucketOf(state.id).toString(16).padStart(2, '0')
    if (state.wakeAt !== null) put(`due:${encodeName(job)}`, `${bucket}${id}`, state.wakeAt)
  }
  for (const record of data.fires.values()) expectFire(record, put)
  const slots = new Map<string, number>()
  for (const run of data.runs.values()) {
    const [id, name] = [encodeName(run.schedule), fireName(run)]
    put(`fires:${id}`, name, run.dueAt)
    for (const field of [`F${name}`, `R${run.token}`, `r${run.token}`]) put(`schedule:${id}`, field)
    put('runs', `${id}\n${run.token}`, run.startedAt)
    put(`runs:${id}`, run.token, run.startedAt)
    if (run.ending !== null) continue
    put(`held:${encodeName(run.instance)}`, `${id}\n${run.token}`)
    put('holders', encodeName(run.instance))
    for (const slot of run.slots) slots.set(slot, (slots.get(slot) ?? 0) + 1)
  }
  for (const [slot, count] of slots) put('slots', encodeName(slot), count)
  for (const [key, run] of data.runs)
    if (data.notes.has(key)) put(`schedule:${encodeName(run.schedule)}`, `m${run.token}`)
  for (const step of data.steps.values()) {
    put(`steps:${encodeName(step.schedule)}\n${fireName(step)}`, encodeName(step.step))
    put(`stepped:${encodeName(step.schedule)}`, fireName(step))
  }
  return keys
}

function expectFire(record: FireRecord, put: (key: string, ...members: (string | number)[]) => void): void {
  const [id, name] = [encodeName(record.schedule), fireName(record)]
  const { dueAt, nonce, range, number, expiresAt } = record
  for (const field of [`F${name}`, `f${name}`]) put(`schedule:${id}`, field)
  if (nonce !== '') put(`schedule:${id}`, `n${encodeName(nonce)}`)
  put('fires', `${id}\n${name}`, dueAt)
  put(`fires:${id}`, name, dueAt)
  if (record.ending === null) put('open', `${id}\n${name}`, dueAt)
  if (range !== null) put('ranges', `${id}\n${name}`, dueAt)
  if (range !== null) put(`ranges:${id}`, name, dueAt)
  if (number !== null) put(`ended:${id}`, name, number)
  if (expiresAt !== null) put('expiring', `${id}\n${name}`, expiresAt)
}

const OTHERS = /^(?:instance:|app:|live$|gone$|ends$|$)/

async function actualKeys(server: Server, namespace: string): Promise<Map<string, Set<string>>> {
  const keys = new Map<string, Set<string>>()
  const prefix = namespaceKey('cronce', namespace)
  for (const key of (await redisCommand(server, 'KEYS', '*')) as string[]) {
    const name = key.slice(prefix.length + 1)
    assert.ok(!key.startsWith(prefix) || slotOf(key) === slotOf(prefix), `one slot for all: ${key}`)
    if (!key.startsWith(prefix) || OTHERS.test(name)) continue
    const members = await membersOf(server, key, name)
    if (members.size > 0) keys.set(name, members)
  }
  return keys
}

async function membersOf(server: Server, key: string, name: string): Promise<Set<string>> {
  const type = await redisCommand(server, 'TYPE', key)
  if (type === 'set') return new Set((await redisCommand(server, 'SMEMBERS', key)) as string[])
  if (type === 'hash' && name !== 'slots') return new Set((await redisCommand(server, 'HKEYS', key)) as string[])
  const flat =
    type === 'hash'
      ? await redisCommand(server, 'HGETALL', key)
      : await redisCommand(server, 'ZRANGE', key, '0', '-1', 'WITHSCORES')
  const pairs = flat as string[]
  return new Set(pairs.flatMap((item, index) => (index % 2 === 0 ? [`${item} ${pairs[index + 1]}`] : [])))
}
