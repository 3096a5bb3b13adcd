import type { Store, StoreSource } from 'cronce'

export type Calls = Record<string, number>

/** A store that counts how often it is asked what. Every instance opens one of its own. */
export function counted<Tx>(source: StoreSource<Tx>, calls: Calls): StoreSource<Tx> {
  return {
    name: source.name,
    async open(options) {
      const store = await source.open(options)
      return new Proxy(store, {
        get(target, name: keyof Store<Tx> & string) {
          const found = target[name]
          if (typeof found !== 'function') return found
          return (...args: never[]) => {
            calls[name] = (calls[name] ?? 0) + 1
            return (found as (...given: never[]) => unknown).apply(target, args)
          }
        },
      })
    },
  }
}

/** Counts every statement that SQLite executes in this process from now on. */
export async function countStatements(): Promise<() => number> {
  const { DatabaseSync, StatementSync } = await import('node:sqlite')
  let count = 0
  const countCalls = (prototype: object, names: readonly string[]): void => {
    for (const name of names) {
      const original = Reflect.get(prototype, name) as (...args: unknown[]) => unknown
      Reflect.set(prototype, name, function counting(this: unknown, ...args: unknown[]) {
        count++
        return original.apply(this, args)
      })
    }
  }
  countCalls(DatabaseSync.prototype, ['exec'])
  countCalls(StatementSync.prototype, ['get', 'all', 'run', 'iterate'])
  return () => count
}
