import type { Json } from '../../model/json.ts'
import type { Instant } from '../../model/schedule.ts'
import type { WatchHint } from '../store.ts'
import { emptyNamespace, type MemoryData } from './data.ts'
import { holdClaims } from './hold.ts'
import type { Journal } from './journal.ts'
import { makeSpace, type Space } from './space.ts'

/** State that all stores opened from one source share. */
export interface Core {
  readonly data: MemoryData
  readonly journal: Journal
  readonly losesWrites: boolean
  now(): Instant
  space(namespace: string): Space
  restore(data: MemoryData): void
  setEffect(key: string, value: Json | undefined): void
  watch(namespace: string, listener: (hint: WatchHint) => void): () => void
  wake(namespace: string): void
}

export function makeCore(given: MemoryData, clock: { wall(): number }, losesWrites: boolean): Core {
  let data = given
  /** Created on first use, from the current data; for a store, when it is opened. */
  let spaces = new Map<string, Space>()
  let generation = 0
  const journal: Journal = { undo: null }
  const listeners = new Map<string, Set<() => void>>()
  const core: Core = {
    get data() {
      return data
    },
    journal,
    losesWrites,
    now: () => Math.floor(clock.wall()),
    space(namespace) {
      let space = spaces.get(namespace)
      if (space === undefined) {
        space = makeSpace(namespaceIn(data, namespace), data.epoch, journal, generation)
        spaces.set(namespace, space)
      }
      return space
    },
    restore(other) {
      const isFailover = losesWrites && other.epoch > data.epoch
      data = other
      // Created now, so that reading never changes the data.
      for (const namespace of spaces.keys()) namespaceIn(data, namespace)
      spaces = new Map()
      generation++
      if (isFailover) for (const namespace of data.namespaces.keys()) holdClaims(core.space(namespace), core.now())
    },
    setEffect(key, value) {
      const old = data.effects.get(key)
      if (value === undefined) data.effects.delete(key)
      else data.effects.set(key, value)
      journal.undo?.push(() => core.setEffect(key, old))
    },
    watch(namespace, listener) {
      const all = listeners.get(namespace) ?? new Set()
      // A separate object, so that one listener may watch twice and stop once.
      const told = () => {
        if (all.has(told)) listener('wake')
      }
      listeners.set(namespace, all.add(told))
      return () => all.delete(told)
    },
    wake(namespace) {
      // Later: the writer must not be called back from within its write.
      for (const told of listeners.get(namespace) ?? []) queueMicrotask(told)
    },
  }
  return core
}

function namespaceIn({ namespaces }: MemoryData, name: string) {
  let namespace = namespaces.get(name)
  if (namespace === undefined) {
    namespace = emptyNamespace()
    namespaces.set(name, namespace)
  }
  return namespace
}
