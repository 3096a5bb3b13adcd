import type { Commit, Found, Group, Guard, KeyRange, Put, Read, Written } from '../kv/driver.ts'
import { isIn } from './layout.ts'

/** Keys of the store without what all of them begin with, and back. */
export class Rooted {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  key(key: string): string {
    if (!key.startsWith(this.#root)) throw new RangeError(`this key belongs to another namespace: ${key}`)
    return key.slice(this.#root.length)
  }

  range({ from, to }: KeyRange): KeyRange {
    return { from: this.key(from), to: this.key(to) }
  }

  read(read: Read): Read {
    return 'get' in read ? { get: this.key(read.get) } : { ...read, ...this.range(read) }
  }

  commit({ guards, puts, groups }: Commit): Commit {
    return {
      guards: guards.map((guard) => this.#guard(guard)),
      puts: puts.map((put) => this.#put(put)),
      groups: groups.map((group) => this.#group(group)),
    }
  }

  found({ entries, count }: Found): Found {
    return { entries: entries.map((entry) => ({ ...entry, key: this.#root + entry.key })), count }
  }

  written(changes: readonly Written[], range: KeyRange): Written[] {
    return changes.filter(({ key }) => isIn(key, range)).map(({ key, value }) => ({ key: this.#root + key, value }))
  }

  #guard(guard: Guard): Guard {
    return 'range' in guard ? { ...guard, range: this.range(guard.range) } : { ...guard, key: this.key(guard.key) }
  }

  #put(put: Put): Put {
    return { ...put, key: this.key(put.key) }
  }

  #group({ guards, puts, deletes, clears = [] }: Group): Group {
    return {
      guards: guards.map((guard) => this.#guard(guard)),
      puts: puts.map((put) => this.#put(put)),
      deletes: deletes.map((key) => this.key(key)),
      clears: clears.map((range) => this.range(range)),
    }
  }
}
