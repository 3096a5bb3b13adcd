import type { CronceEvent } from '../model/event.ts'
import type { Instant } from '../model/schedule.ts'
import type { StoreFacts } from './rules/facts.ts'
import { quantile } from './rules/figures.ts'

/** Calls to the store that count for its latency. */
const CALLS = 50
const LEAST_CALLS = 10
/** Waits in the store for the end of a peer's process: that says nothing about the store. */
const WAITS = 'probe'

/** What this process notices about the store, from its own calls and events. */
export class StoreWatch {
  readonly #now: () => Instant
  readonly #warnings: ReadonlyMap<string, string>
  readonly #calls: number[] = []
  #failedSince: Instant | null = null
  #away: StoreFacts['away'] = null
  #rolledBackAt: Instant | null = null
  #prunableSince: Instant | null = null

  /** `warnings`: of the store, by code; may grow. */
  constructor(now: () => Instant, warnings: ReadonlyMap<string, string>) {
    this.#now = now
    this.#warnings = warnings
  }

  called(operation: string, ms: number): void {
    if (operation === WAITS) return
    this.#calls.push(ms)
    if (this.#calls.length > CALLS) this.#calls.shift()
  }

  observe({ type }: CronceEvent): void {
    const now = this.#now()
    if (type === 'store.failed') this.#failedSince ??= now
    if (type === 'store.rolledBack') this.#rolledBackAt = now
    if (type === 'store.recovered' && this.#failedSince !== null) {
      this.#away = { ms: now - this.#failedSince, endedAt: now }
      this.#failedSince = null
    }
  }

  facts(isPrunable: boolean): StoreFacts {
    this.#prunableSince = isPrunable ? (this.#prunableSince ?? this.#now()) : null
    return {
      latencyMs: this.#calls.length < LEAST_CALLS ? null : quantile(this.#calls, 0.5),
      away: this.#away,
      rolledBackAt: this.#rolledBackAt,
      prunableSince: this.#prunableSince,
      warnings: this.#warnings,
    }
  }
}
