import type { RunQuery, Store } from '../store/store.ts'
import { readStore } from './ask-store.ts'
import { viewRun } from './make-view.ts'
import type { RunView } from './views.ts'

/** In one answer. */
const MOST = 1_000
/** Answers for each look. Where more are open, a look at all of them takes several. */
const PAGES = 20
/** More are not remembered. */
const MOST_KNOWN = 100_000

interface RunKey {
  readonly schedule: string
  readonly token: string
}

/**
 * The runs that are known to be open, and how they end. No store tells what has ended since, so all that are open are looked at,
 * and those that are known and not among them are asked for. What a look costs is bounded; with more open runs it takes more looks.
 */
export class OpenRuns<Tx> {
  readonly #store: Store<Tx>
  readonly #known = new Map<string, RunKey>()
  /** How far the look has come; `null`: it begins. */
  #after: string | null = null
  /** Known when it began, and not seen by it. */
  #unseen = new Set<string>()
  /** Not among the open: to be asked for. */
  #missing: string[] = []
  /** Those that began before are found by the first look, which may take a while. */
  #since: number | null = 0
  #hasOverflown = false

  constructor(store: Store<Tx>) {
    this.#store = store
  }

  /** Those that are going on when a feed begins are not told to begin, but how they end is. */
  async begin(since: number | undefined): Promise<{ readonly now: number }> {
    const query: RunQuery = { outcome: 'open', limit: 1, after: null }
    const { now } = await readStore('list runs', () => this.#store.listRuns(query))
    this.#since = since ?? now
    await this.#look()
    return { now }
  }

  add({ schedule, token }: RunKey): void {
    this.#known.set(keyOf({ schedule, token }), { schedule, token })
    if (this.#known.size <= MOST_KNOWN) return
    const [oldest] = this.#known.keys()
    if (oldest !== undefined) this.#known.delete(oldest)
    this.#hasOverflown = true
  }

  /** Whether there were too many since this was last asked: the end of one of them will not be told. */
  takeOverflow(): boolean {
    const hasOverflown = this.#hasOverflown
    this.#hasOverflown = false
    return hasOverflown
  }

  /** Those that have ended, the earliest first. `seen`: runs that were read just now for another reason. */
  async ended(seen: readonly RunView[]): Promise<RunView[]> {
    const ended = seen.filter((run) => run.endedAt !== null && this.#known.delete(keyOf(run)))
    if (this.#known.size > 0 || this.#since !== null) await this.#look()
    while (this.#missing.length > 0 && ended.length < MOST) {
      const key = this.#missing.at(-1)!
      const found = await this.#ask(this.#known.get(key))
      this.#missing.pop()
      // Gone from the record: nobody will hear of it again.
      if (found === null || found.endedAt !== null) this.#known.delete(key)
      if (found !== null && found.endedAt !== null) ended.push(found)
    }
    return ended.sort((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0))
  }

  async #look(): Promise<void> {
    // What is missing is asked for first.
    if (this.#missing.length > 0) return
    if (this.#after === null) this.#unseen = new Set(this.#known.keys())
    for (let page = 0; page < PAGES; page++) {
      const query: RunQuery = { outcome: 'open', limit: MOST, after: this.#after }
      const { items, next } = await readStore('list runs', () => this.#store.listRuns(query))
      for (const run of items) {
        this.#unseen.delete(keyOf(run))
        if (this.#since === null || run.startedAt >= this.#since || this.#known.has(keyOf(run))) continue
        // These are the longest: those that began since are more likely to end.
        if (this.#known.size < MOST_KNOWN) this.add(run)
        else this.#hasOverflown = true
      }
      this.#after = next
      if (next === null) {
        this.#since = null
        this.#missing = [...this.#unseen].filter((key) => this.#known.has(key))
      }
      // Nobody else need be looked at if all that are known were seen.
      if (this.#unseen.size === 0 && this.#since === null) this.#after = null
      if (this.#after === null) return
    }
  }

  async #ask(run: RunKey | undefined): Promise<RunView | null> {
    if (run === undefined) return null
    const query: RunQuery = { ...run, limit: 1, after: null }
    const { items } = await readStore('look for a run', () => this.#store.listRuns(query))
    return items[0] === undefined ? null : viewRun(items[0])
  }
}

export function keyOf({ schedule, token }: RunKey): string {
  return `${schedule}\n${token}`
}
