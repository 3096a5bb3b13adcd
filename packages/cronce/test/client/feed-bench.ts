import assert from 'node:assert/strict'
import { type FeedEntry, type FeedOptions, feed } from '../../src/client/feed.ts'
import type { ClientParts } from '../../src/client/parts.ts'
import type { Change } from '../../src/model/change.ts'
import { ending, type Reason } from '../../src/model/outcome.ts'
import type { HistoryRecord } from '../../src/model/record.ts'
import type { OpenRun, ScheduleState } from '../../src/model/schedule.ts'
import { makeToken } from '../../src/model/token.ts'
import { type MemorySource, memory } from '../../src/store/memory/memory.ts'
import type { Store } from '../../src/store/store.ts'
import {
  change,
  creation,
  DAY_MS,
  decideIn,
  endedLine,
  NOON,
  schedule,
  waiting,
  withFires,
} from '../../src/testing/conformance/samples.ts'

/** Open fires of one schedule: see `LIMITS.openFires`. */
const FIRES_EACH = 500

export const SECOND = 1_000

/** A feed on a real store in memory, whose clock moves by a second after each look. */
export class FeedBench {
  /** The store's clock. */
  readonly clock: { now: number; wall(): number }
  /** Calls of the feed to the store. */
  calls = 0
  /** Called before each of them; it may throw. */
  beforeCall: (name: string) => void = () => {}
  readonly source: MemorySource
  readonly #store: Store
  readonly #states = new Map<string, ScheduleState>()
  /** Runs so far. */
  #begun = 0

  private constructor(clock: FeedBench['clock'], source: MemorySource, store: Store) {
    this.clock = clock
    this.source = source
    this.#store = store
  }

  static async open(): Promise<FeedBench> {
    const clock = { now: NOON, wall: () => clock.now }
    const source = memory({ clock })
    const store = await source.open({ namespace: 'default', adopt: false, production: false, warn: () => {} })
    decideIn(store.info.epoch)
    const bench = new FeedBench(clock, source, store)
    await bench.#apply([creation(schedule('s'))])
    return bench
  }

  get now(): number {
    return this.clock.now
  }

  /** Claim `count` fires, of as many schedules as it takes. `startedAt`: when that was decided; it is committed now. */
  async begin(count: number, startedAt = this.now): Promise<readonly string[]> {
    const runs = Array.from({ length: count }, (_, index): OpenRun => {
      const token = makeToken(1, this.#begun + index + 1)
      return { token, instance: 'i', claim: 1, startedAt, cancel: null }
    })
    const changes: Change[] = []
    for (let from = 0; from < count; from += FIRES_EACH) {
      const fires = runs.slice(from, from + FIRES_EACH).map((run, index) => {
        return waiting(NOON + this.#begun + from + index + 1, { attempt: 1, run })
      })
      changes.push(withFires(creation(schedule(`s${this.#begun + from}`)), fires))
    }
    this.#begun += count
    await this.#apply(changes)
    return runs.map(({ token }) => token)
  }

  /** `endedAt`: when that was decided; it is committed now. */
  async end(tokens: readonly string[], endedAt = this.now): Promise<void> {
    const wanted = new Set(tokens)
    const changes = [...this.#states.values()].flatMap((state) => {
      const ended = state.open.filter(({ run }) => run !== null && wanted.has(run.token))
      if (ended.length === 0) return []
      const history = ended.map((fire, index) => {
        const { token, instance, startedAt, cancel } = fire.run!
        const run = { token, instance, startedAt, cancel, error: null, result: null }
        const number = state.ended + index + 1
        return endedLine(state.id, fire.dueAt, { attempt: 1, run, endedAt, number, expiresAt: endedAt + DAY_MS })
      })
      const open = state.open.filter((fire) => !ended.includes(fire))
      return [change(state, { open, ended: state.ended + history.length }, { history })]
    })
    await this.#apply(changes)
  }

  /** A fire that ends without a run. */
  async skip(dueAt: number, over: Partial<HistoryRecord> = {}, reason: Reason = 'overlap'): Promise<void> {
    const state = this.#states.get('s')!
    const kept = { number: state.ended + 1, expiresAt: this.now + DAY_MS }
    const line = endedLine('s', dueAt, { ending: ending(reason), endedAt: this.now, ...over, ...kept })
    await this.#apply([withFires(change(state), [line])])
  }

  /** Delete what has expired, with its runs. */
  async prune(): Promise<void> {
    await this.#store.prune(100_000)
  }

  /** The entries that each of `looks` looks reported; `between` is called after each but the last. */
  async look(
    looks: number,
    between: (look: number) => void | Promise<void>,
    options: FeedOptions = {},
  ): Promise<FeedEntry[][]> {
    const stop = new AbortController()
    const told: FeedEntry[][] = [[]]
    const sleep = async (ms: number): Promise<void> => {
      // The deadline of a call, which never passes here.
      if (ms > SECOND) return new Promise(() => {})
      if (told.length >= looks) return stop.abort()
      this.clock.now += SECOND
      await between(told.length)
      told.push([])
    }
    const clock = { sleep, wall: () => this.now, mono: () => this.now }
    const parts = { store: this.#counted(), context: () => ({ clock }) } as unknown as ClientParts<unknown>
    for await (const entry of feed(parts, { ...options, signal: stop.signal })) told.at(-1)!.push(entry)
    return told
  }

  async #apply(changes: readonly Change[]): Promise<void> {
    const { results } = await this.#store.apply(changes)
    assert.ok(results.every(({ kind }) => kind === 'applied'))
    for (const { id, state } of changes) this.#states.set(id, state!)
  }

  #counted(): Store {
    return new Proxy(this.#store, {
      get: (store, name, receiver) => {
        const value = Reflect.get(store, name, receiver)
        if (typeof value !== 'function') return value
        return async (...args: unknown[]) => {
          this.calls++
          this.beforeCall(String(name))
          return value.apply(store, args)
        }
      },
    })
  }
}

export function count(told: readonly FeedEntry[], kind: FeedEntry['kind']): number {
  return told.filter((entry) => entry.kind === kind).length
}

export function endedTokens(told: readonly FeedEntry[]): string[] {
  return told.flatMap((entry) => (entry.kind === 'run.ended' ? entry.run.token : [])).sort()
}
