import type { StartedRun } from '../../policy/decision.ts'
import type { Taken } from '../claim/claim-fire.ts'
import type { Job, RunHandle } from '../parts.ts'
import type { ExclusiveKind } from './run-table.ts'
import type { Settled } from './settle.ts'

/** A run that was not claimed because it was due: it takes no slot of the jobs. */
export interface ExclusiveRun<Tx> {
  readonly kind: ExclusiveKind
  readonly job: Job<Tx>
}

export type Begun<Value> =
  | Exclude<Taken, { readonly kind: 'taken' }>
  | {
      readonly kind: 'begun'
      readonly started: StartedRun
      /** How `work` ended, once that is recorded. Never rejects. */
      readonly ended: Promise<Finished<Value>>
    }

/**
 * `over`: the run was given up before `work` ended, because it ignored its signal or was overtaken. `unbegun`: `work` was not called,
 * because the lease could not be trusted any more, or the instance was about to stop.
 */
export type Finished<Value> =
  | { readonly kind: 'done'; readonly value: Value; readonly settled: Settled }
  | { readonly kind: 'threw'; readonly error: unknown; readonly settled: Settled }
  | { readonly kind: 'over' }
  | { readonly kind: 'unbegun' }

/** Work of a caller as the handler of a run, which remembers what it returned or threw. */
export class ExclusiveWork<Tx, Value> implements ExclusiveRun<Tx> {
  readonly kind: ExclusiveKind
  readonly job: Job<Tx>
  #isBegun = false
  #end: { readonly value: Value } | { readonly error: unknown } | null = null

  constructor(name: string, kind: ExclusiveKind, work: (handle: RunHandle<Tx>) => Promise<Value>) {
    this.kind = kind
    this.job = { name, retryable: () => false, execute: (handle) => this.#execute(handle, work) }
  }

  finish(settled: Settled): Finished<Value> {
    if (this.#end === null) return { kind: this.#isBegun ? 'over' : 'unbegun' }
    if ('error' in this.#end) return { kind: 'threw', error: this.#end.error, settled }
    return { kind: 'done', value: this.#end.value, settled }
  }

  async #execute(handle: RunHandle<Tx>, work: (handle: RunHandle<Tx>) => Promise<Value>): Promise<unknown> {
    this.#isBegun = true
    try {
      this.#end = { value: await work(handle) }
      return null
    } catch (error) {
      this.#end = { error }
      throw error
    }
  }
}
