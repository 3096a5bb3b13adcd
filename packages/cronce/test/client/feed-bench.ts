import assert from 'node:assert/strict'
import { type FeedEntry, type FeedOptions, feed } from '../../src/client/feed.ts'
import type { ClientParts } from '../../src/client/parts.ts'
import { ending, type Reason } from '../../src/model/outcome.ts'
import type { FireRecord, RunRecord } from '../../src/model/record.ts'
import type { ScheduleState } from '../../src/model/schedule.ts'
import { makeToken } from '../../src/model/token.ts'
import { type MemorySource, memory } from '../../src/store/memory/memory.ts'
import type { Store } from '../../src/store/store.ts'
import {
  change,
  creation,
  DAY_MS,
  decideIn,
  endedFire,
  fire,
  NOON,
  schedule,
} from '../../src/testing/conformance/samples.ts'

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
  readonly #runs = new Map<string, RunRecord>()
  #state: ScheduleState

  private constructor(clock: FeedBench['clock'], source: MemorySource, store: Store, state: ScheduleState) {
    this.clock = clock
    this.source = source
    this.#store = store
    this.#state = state
  }

  static async open(): Promise<FeedBench> {
    const clock = { now: NOON, wall: () => clock.now }
    const source = memory({ clock })
    const store = await source.open({ namespace: 'default', adopt: false, production: false, warn: () => {} })
    decideIn(store.info.epoch)
    await store.apply([creation(schedule('s'))])
    const { schedules } = await store.load(['s'])
    return new FeedBench(clock, source, store, schedules[0]!)
  }

  get now(): number {
    return this.clock.now
  }

  /** Claim `count` fires. `startedAt`: when that was decided; it is committed now. */
  async begin(count: number, startedAt = this.now): Promise<readonly string[]> {
    const begun = Array.from({ length: count }, (_, index): RunRecord => {
      const number = this.#runs.size + index + 1
      const key = { schedule: 's', dueAt: NOON + number, nonce: '' }
      const made = { job: 'report', round: 1, attempt: 1, instance: 'i', request: 'r', startedAt, readyAt: key.dueAt }
      const open = { slots: [], cancel: null, ending: null, endedAt: null, error: null, result: null }
      return { ...key, ...made, ...open, token: makeToken(1, number) }
    })
    for (const run of begun) this.#runs.set(run.token, run)
    await this.#apply({ creates: begun.map((run) => fire('s', run.dueAt, { attempt: 1 })), runs: begun })
    return begun.map(({ token }) => token)
  }

  /** `endedAt`: when that was decided; it is committed now. */
  async end(tokens: readonly string[], endedAt = this.now): Promise<void> {
    const ended = tokens.map(
      (token): RunRecord => ({ ...this.#runs.get(token)!, ending: ending('completed'), endedAt }),
    )
    const updates = ended.map((run, index) =>
      endedFire('s', run.dueAt, { attempt: 1, endedAt, number: index + 1, expiresAt: endedAt + DAY_MS }),
    )
    await this.#apply({ updates, runs: ended })
  }

  /** A fire that ends without a run. */
  async skip(dueAt: number, over: Partial<FireRecord> = {}, reason: Reason = 'overlap'): Promise<void> {
    const kept = { number: 1, expiresAt: this.now + DAY_MS }
    await this.#apply({
      creates: [endedFire('s', dueAt, { ending: ending(reason), endedAt: this.now, ...over, ...kept })],
    })
  }

  /** Delete what has expired, with its runs. */
  async prune(): Promise<void> {
    await this.#store.prune(100_000)
  }

  /** Of `looks` looks, what was told at each of them; `between` is called after each but the last. */
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

  async #apply(more: Parameters<typeof change>[2]): Promise<void> {
    const made = change(this.#state, {}, more)
    const { results } = await this.#store.apply([made])
    assert.deepEqual(results, [{ kind: 'applied' }])
    this.#state = made.state!
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
