import type { KeyRange, Put, Written } from '../kv/driver.ts'
import { isIn, type Layout } from './layout.ts'
import { getChildren, getData, type Maybe, type Node, type Operation } from './messages.ts'
import type { Look } from './view.ts'

/** Commits whose writes are kept. A reader that has missed more starts again from what is on record. */
const MOST_KEPT = 256
const DIGITS = 16

/**
 * ZooKeeper keeps no history. What commits write to some of the keys is kept in a node for each such commit, named by its number; their
 * folder holds the number of the last one that was deleted.
 */
export class CommitLog {
  readonly #folder: string
  readonly #range: KeyRange

  constructor(layout: Layout, range: KeyRange) {
    this.#folder = layout.own('log')
    this.#range = range
  }

  /** What was written after one commit and up to another. `null`: some of it is no longer kept. */
  *look(after: number, until: number): Look<Written[] | null> {
    const [folder, names] = (yield [getData(this.#folder), getChildren(this.#folder)]) as readonly [
      Maybe<Node>,
      Maybe<readonly string[]>,
    ]
    if (folder === null || names === null || Number(folder.data.toString()) > after) return null
    const wanted = names.filter((name) => Number(name) > after && Number(name) <= until).sort()
    if (wanted.length === 0) return []
    const nodes = (yield wanted.map((name) => getData(`${this.#folder}/${name}`))) as readonly Maybe<Node>[]
    return nodes.flatMap((node) => (node === null ? [] : (JSON.parse(node.data.toString()) as Written[])))
  }

  /** The oldest one that is deleted with the next, or 0. */
  *lookForEnd(): Look<number> {
    const [names] = (yield [getChildren(this.#folder)]) as readonly [Maybe<readonly string[]>]
    if (names === null || names.length < MOST_KEPT) return 0
    return Math.min(...names.map(Number))
  }

  operations(revision: number, puts: readonly Put[], deleted: readonly string[], oldest: number): Operation[] {
    const written: Written[] = [
      ...puts.filter(({ key }) => isIn(key, this.#range)).map(({ key, value }) => ({ key, value })),
      ...deleted.filter((key) => isIn(key, this.#range)).map((key) => ({ key, value: null })),
    ]
    if (written.length === 0) return []
    const data = Buffer.from(JSON.stringify(written))
    const kept: Operation = { op: 'create', path: this.#pathOf(revision), data, kind: 'persistent' }
    if (oldest === 0) return [kept]
    return [
      kept,
      { op: 'delete', path: this.#pathOf(oldest) },
      { op: 'setData', path: this.#folder, data: Buffer.from(String(oldest)), version: -1 },
    ]
  }

  #pathOf(revision: number): string {
    return `${this.#folder}/${String(revision).padStart(DIGITS, '0')}`
  }
}
