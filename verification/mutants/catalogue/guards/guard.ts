import { type Edit, edit, type Mutant } from '../../mutant.ts'

/** The stores, each with the file that proves it by the conformance suite. */
export const STORES = {
  memory: 'packages/cronce/test/store/memory-conformance.test.ts',
  sqlite: 'packages/cronce/test/store/sqlite-conformance.test.ts',
  postgres: 'packages/cronce/test/store/postgres-conformance.test.ts',
  redis: 'packages/cronce/test/store/redis-conformance.test.ts',
  /** On a model of a server. Its mutants must be caught whatever the driver: etcd's and ZooKeeper's have mutants of their own. */
  kv: 'packages/cronce/test/store/kv-conformance.test.ts',
} as const

export type StoreName = keyof typeof STORES

/** File below the folder of the store, the original text, the mistaken text, and how often the original occurs. */
type GuardEdit = readonly [file: string, find: string, replace: string, count?: number]

/**
 * A check that a store makes before it writes. Each store that has it is tested without it, and the named rule of the
 * conformance suite must fail. A store that cannot lose it by one mistake states why.
 */
export interface Guard {
  readonly name: string
  readonly breaks: string
  /** The rule of the suite that fails without the guard. */
  readonly rule: string
  readonly stores: Readonly<Record<StoreName, readonly GuardEdit[] | { readonly none: string }>>
}

/** A mutant for each store that has the guard. */
export function mutantsOf(guards: readonly Guard[]): Mutant[] {
  return guards.flatMap(({ name, breaks, rule, stores }) =>
    Object.entries(stores).flatMap(([store, edits]) => {
      if ('none' in edits) return []
      const mutant: Mutant = {
        name: `${store}-without-${name}`,
        rule: 'rule 49',
        breaks,
        edits: edits.map((given) => editIn(store, given)),
        caughtBy: { judge: 'tests', file: STORES[store as StoreName], names: [rule] },
      }
      return [mutant]
    }),
  )
}

function editIn(store: string, [file, find, replace, count]: GuardEdit): Edit {
  return edit(`store/${store}/${file}`, find, replace, count)
}
