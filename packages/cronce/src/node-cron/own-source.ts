import { storeSource } from '../app/open-store.ts'
import type { Change } from '../model/change.ts'
import type { Store, StoreSource } from '../store/store.ts'

const KEPT_MS = 60_000

/**
 * For tasks that belong to this process. Their history is not needed, and no other process could run their slots again: so
 * records go after a minute, or a task that runs every second would fill the memory.
 */
export function ownSource(): StoreSource {
  const source = storeSource('memory:')
  return {
    name: source.name,
    async open(options) {
      const store: Store = await source.open(options)
      const apply: Store['apply'] = (changes, ...rest) => store.apply(changes.map(shortened), ...rest)
      return Object.create(store, { apply: { value: apply, enumerable: true } }) as Store
    },
  }
}

function shortened(change: Change): Change {
  return { ...change, history: change.history.map((line) => ({ ...line, expiresAt: line.endedAt + KEPT_MS })) }
}
