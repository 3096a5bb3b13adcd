import type { FileTree } from '../discover/tree.ts'
import type { Fact, FactOf } from '../facts/fact.ts'
import { joinUnits, type RunningUnit } from './units.ts'

/** All that rules may ask. */
export interface Project {
  readonly tree: FileTree
  readonly facts: readonly Fact[]
  /** Units with the schedules that they run. */
  readonly units: readonly RunningUnit[]
  all<K extends Fact['kind']>(kind: K): readonly FactOf<K>[]
}

export function projectOf(tree: FileTree, facts: readonly Fact[]): Project {
  const byKind = Map.groupBy(facts, ({ kind }) => kind)
  return {
    tree,
    facts,
    units: joinUnits(tree, facts),
    all: <K extends Fact['kind']>(kind: K) => (byKind.get(kind) ?? []) as unknown as readonly FactOf<K>[],
  }
}
