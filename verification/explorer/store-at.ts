import type { NamespaceData } from '../../packages/cronce/src/store/memory/data.ts'
import { type MemorySource, memory } from '../../packages/cronce/src/store/memory/memory.ts'
import type { MemoryTransaction } from '../../packages/cronce/src/store/memory/transaction.ts'
import type { Store } from '../../packages/cronce/src/store/store.ts'
import { type Snapshot, TICK_MS } from './state.ts'

export type MemoryStore = Store<MemoryTransaction>

const NAMESPACE = 'default'

/**
 * The real store, put back to any earlier moment. Its values are never changed, only replaced, so a moment is kept by copying the
 * maps that hold them; the indexes are made anew from those.
 */
export interface StoreAt {
  read<Answer>(snapshot: Snapshot, now: number, ask: (store: MemoryStore) => Promise<Answer>): Promise<Answer>
  /** What was given is answered again if nothing was changed. */
  write<Answer>(snapshot: Snapshot, now: number, ask: (store: MemoryStore) => Promise<Answer>): Promise<Written<Answer>>
}

export interface Written<Answer> {
  readonly answer: Answer
  readonly snapshot: Snapshot
}

/** `tickMs`: what the `now` of a read or write is counted in. */
export async function storeAt(
  disguise: (store: MemoryStore, source: MemorySource) => MemoryStore,
  tickMs = TICK_MS,
): Promise<StoreAt> {
  let wall = 0
  let shown: Snapshot | null = null
  const source = memory({ clock: { wall: () => wall } })
  const opened = await source.open({ namespace: NAMESPACE, adopt: false, production: false, warn: () => {} })
  const store = disguise(opened, source)
  const show = (snapshot: Snapshot, now: number): void => {
    wall = now * tickMs
    if (shown === snapshot) return
    const { epoch, space, effects } = snapshot
    source.restore({ epoch, namespaces: new Map([[NAMESPACE, space]]), effects: new Map(effects) })
    shown = snapshot
  }
  return {
    async read(snapshot, now, ask) {
      show(snapshot, now)
      return ask(store)
    },
    async write(snapshot, now, ask) {
      const copy = { ...snapshot, space: copySpace(snapshot.space) }
      show(copy, now)
      const answer = await ask(store)
      const { effects } = source.data
      if (isSame(snapshot.space, copy.space) && isSameMap(snapshot.effects, effects)) return { answer, snapshot }
      const after = { ...copy, effects: new Map(effects) }
      shown = after
      return { answer, snapshot: after }
    },
  }
}

function copySpace(space: NamespaceData): NamespaceData {
  const { schedules, history, notes, steps, instances, apps, activity, counts, floor } = space
  return {
    schedules: new Map(schedules),
    history: new Map(history),
    notes,
    steps: new Map(steps),
    instances: new Map(instances),
    apps,
    activity,
    counts: new Map(counts),
    floor,
  }
}

function isSame(one: NamespaceData, other: NamespaceData): boolean {
  return (
    one.floor === other.floor &&
    isSameMap(one.schedules, other.schedules) &&
    isSameMap(one.history, other.history) &&
    isSameMap(one.steps, other.steps) &&
    isSameMap(one.instances, other.instances)
  )
}

function isSameMap<Value>(one: ReadonlyMap<string, Value>, other: ReadonlyMap<string, Value>): boolean {
  if (one.size !== other.size) return false
  for (const [key, value] of one) if (other.get(key) !== value) return false
  return true
}
