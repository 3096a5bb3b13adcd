import assert from 'node:assert/strict'
import { memory, type NamespaceData } from '../../src/memory.ts'
import type { BeatAnswer, Store } from '../../src/store/store.ts'
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
  /** The time of the last answer. */
  now(): number
  readonly seen: Set<string>
  /** What instances join with: one that has ended at once, where the store can grant it. */
  readonly leases: readonly number[]
  one<Item>(items: readonly Item[]): Item
  /** Ask both the same. Answers what they agree on. */
  ask<Answer>(what: string, question: (store: Store) => Promise<Answer>): Promise<Answer>
}

/** Real time passes between two questions: moments are not compared. A change that is sent again renews again. */
const MOMENTS = new Set(['now', 'renewedAt', 'renewals', 'begunAt'])

function withoutMoments(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMoments)
  if (typeof value !== 'object' || value === null) return value
  const isInstance = 'renewals' in value
  const own = 'begunAt' in value ? 'endedAt' : isInstance ? 'startedAt' : ''
  // Whether the lease of an ended instance has expired is irrelevant.
  const ended = isInstance && 'endedAt' in value && value.endedAt !== null ? 'expired' : ''
  const kept = Object.entries(value).filter(([name]) => !MOMENTS.has(name) && name !== own && name !== ended)
  // Of an instance: whether it has ended.
  const compared = (name: string, item: unknown): unknown =>
    isInstance && name === 'endedAt' ? item !== null : withoutMoments(item)
  return Object.fromEntries(kept.map(([name, item]) => [name, compared(name, item)]))
}

export async function openTwins(
  real: Store,
  { random, namespace, seen, leases }: Pick<Twins, 'random' | 'seen' | 'leases'> & { readonly namespace: string },
): Promise<Twins> {
  const options = { namespace, adopt: false, production: false, warn: () => {} }
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
    now: () => now,
    seen,
    leases,
    one: (items) => items[random(items.length)]!,
    async ask(what, question) {
      const answer = await question(real)
      now = (await real.load([])).now
      assert.deepEqual(withoutMoments(answer), withoutMoments(await question(model)), what)
      return answer
    },
  }
}

/** Held runs come in any order. A store need not know that nothing is left of what was to be pruned: it finds out when it prunes. */
export function sortHeld(answer: BeatAnswer): unknown {
  const { chores, ...rest } = answer
  const { prunable: _, ...others } = chores
  return { ...rest, chores: others, held: byText(answer.held) }
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
