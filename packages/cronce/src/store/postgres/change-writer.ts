import type { Change } from '../../model/change.ts'
import type { FireKey, FireRecord } from '../../model/record.ts'
import { findTwin } from '../matches.ts'
import type { Applied, ApplyOptions, ChangeResult } from '../store.ts'
import { partlyApplied, StoreError } from '../store-error.ts'
import type { WakeUp } from '../wake-up.ts'
import { type ApplyAnswer, type ApplyHeader, applyValues, type Judgement, judgementsOf, mayWait } from './apply.ts'
import type { Asker, Send } from './asker.ts'
import { Claims } from './claims.ts'
import type { Statements } from './functions.ts'
import { selectFire } from './lists.ts'
import type { LookPositions } from './look-position.ts'
import { fireOf, type PageAnswer } from './pages.ts'
import { type PlainAnswer, type Plan, planOf } from './plain.ts'
import type { Definitions } from './schedules.ts'

/** How long peers believe that an instance holds runs after it said so. */
const BUSY_MS = 60_000

const NONE_WRITTEN: readonly Change[] = []
const APPLIED = { kind: 'applied' } as const

/** The answers of the statements of one `apply` so far. */
interface Progress {
  now: number
  renewed: boolean
}

export interface ChangeWriterParts<Tx> {
  readonly asker: Asker<Tx>
  /** Quoted for SQL. */
  readonly schema: string
  readonly namespace: string
  readonly statements: Statements
  readonly definitions: Definitions
  readonly looks: LookPositions
  readonly wakeUp: WakeUp
  /** Write plain changes with the statements on typed columns. */
  readonly usesPlain: boolean
}

/** Writes changes: plain ones on typed columns, all others with the general statement. */
export class ChangeWriter<Tx> {
  readonly #parts: ChangeWriterParts<Tx>
  readonly #claims = new Claims()
  /** When this process last told its peers that it holds runs, by the monotonic clock. */
  #saidBusyAt = Number.NEGATIVE_INFINITY

  constructor(parts: ChangeWriterParts<Tx>) {
    this.#parts = parts
  }

  async apply(changes: readonly Change[], options: ApplyOptions<Tx>): Promise<Applied> {
    const { tx } = options
    const { asker, wakeUp } = this.#parts
    const twins = changes.map(findTwin)
    const sound = changes.filter((_, index) => twins[index] === null)
    const progress: Progress = { now: 0, renewed: false }
    const judgements = await this.#judge(sound, options, progress)
    if (options.wake === true) wakeUp.ring()
    const send = tx === undefined ? asker.askMovable : asker.askIn(tx)
    let next = 0
    const results: ChangeResult[] = []
    for (let index = 0; index < changes.length; index++) {
      const twin = twins[index]!
      const judgement = twin === null ? judgements[next++]! : null
      if (judgement === null) results.push({ kind: 'exists', fire: twin! })
      else if (judgement.kind === 'exists') results.push(await this.#resultOf(send, changes[index]!, judgement.place))
      else results.push(judgement)
    }
    return { ...progress, results }
  }

  /** Writes one change in the user's transaction. */
  async applyIn(tx: Tx, change: Change): Promise<ChangeResult['kind']> {
    return (await this.#judge([change], { tx }, { now: 0, renewed: false }))[0]!.kind
  }

  /** The user's transaction that `applyIn` wrote in has been committed. */
  committed(change: Change): void {
    this.#claims.settled([change])
  }

  /** PostgreSQL plans the functions once per connection. Does that now, so that the first fire need not wait for it. */
  warmUp(): void {
    const { asker, namespace, statements, definitions } = this.#parts
    const header = {
      instance: null,
      lease_ms: null,
      renew: false,
      channel: null,
      payload: '',
      app: null,
      app_version: null,
      finished: [],
    }
    // Two at a time, so that both connections get one. An error here will come again when it matters, and is reported then.
    for (let lane = 0; lane < 2; lane++) {
      asker.ask(statements.warmUp, [namespace, ...applyValues(header, [], definitions)]).catch(() => {})
    }
  }

  async #judge(changes: readonly Change[], options: ApplyOptions<Tx>, progress: Progress): Promise<Judgement[]> {
    const { tx } = options
    const { asker, usesPlain } = this.#parts
    if (tx !== undefined) return this.#applyOn(asker.askIn(tx), changes, options, progress)
    const written = usesPlain ? await this.#applyPlain(changes, options, progress) : NONE_WRITTEN
    if (written.length === changes.length && changes.length > 0) return changes.map(() => APPLIED)
    const isWritten = new Set(written)
    try {
      const rest = changes.filter((change) => !isWritten.has(change))
      const judged = (await this.#applyGeneral(rest, options, progress)).values()
      return changes.map((change) => (isWritten.has(change) ? APPLIED : judged.next().value!))
    } catch (error) {
      throw written.length > 0 ? partlyApplied(error) : error
    }
  }

  /** Returns the changes that were written on typed columns. */
  async #applyPlain(
    changes: readonly Change[],
    options: ApplyOptions<Tx>,
    progress: Progress,
  ): Promise<readonly Change[]> {
    const { claimant, app } = options
    const { asker, namespace, statements, definitions } = this.#parts
    const plan = app === undefined ? planOf(changes, claimant?.instance ?? null, definitions) : null
    if (plan === null) return NONE_WRITTEN
    const busy = this.#newlyBusy(options, changes)
    const finished = this.#claims.finishing(plan.changes)
    const header = this.#plainHeader(plan, options, busy, finished)
    const values = [namespace, JSON.stringify(header), ...plan.values]
    let answer: PlainAnswer
    try {
      answer = await asker.askMovable<PlainAnswer>(
        claimant === undefined ? statements.settle : statements.claim,
        values,
      )
    } catch (error) {
      // Another transaction has locked one of the schedules. The general statement waits for no such lock.
      if (isConflict(error)) return NONE_WRITTEN
      throw error
    }
    noteAnswer(progress, answer)
    const written = writtenOf(plan, answer)
    if (busy !== null && written.length > 0) this.#saidBusyAt = performance.now()
    this.#noteWritten(written, finished, answer.kept ?? null)
    if (typeof answer.id === 'number') this.#claims.add(answer.id, written)
    return written
  }

  #plainHeader(plan: Plan, options: ApplyOptions<Tx>, busy: string | null, finished: readonly number[]): object {
    return {
      ...{ instance: plan.instance, claim: plan.claim, epoch: plan.epoch, lease_ms: options.claimant?.leaseMs ?? null },
      renew: options.claimant?.renew ?? false,
      channel: this.#channelFor(options, busy),
      payload: this.#payloadFor(options, busy),
      finished: finished.length === 0 ? null : `{${finished.join()}}`,
    }
  }

  async #applyGeneral(changes: readonly Change[], options: ApplyOptions<Tx>, progress: Progress): Promise<Judgement[]> {
    try {
      return await this.#applyOn(this.#parts.asker.askMovable, changes, options, progress)
    } catch (error) {
      if (changes.length === 1 || !isConflict(error)) throw error
      return this.#applyApart(changes, options, progress)
    }
  }

  /** Separates changes that may wait for another transaction from those that cannot, so that only the former are delayed. */
  async #applyApart(changes: readonly Change[], options: ApplyOptions<Tx>, progress: Progress): Promise<Judgement[]> {
    const results: Judgement[] = changes.map(() => ({ kind: 'conflict' }))
    for (const waits of [false, true]) {
      const places = [...changes.keys()].filter((place) => mayWait(changes[place]!) === waits)
      if (places.length === 0) continue
      try {
        const part = places.map((place) => changes[place]!)
        const found = await this.#applyOn(this.#parts.asker.askMovable, part, options, progress)
        for (const [index, place] of places.entries()) results[place] = found[index]!
      } catch (error) {
        if (!isConflict(error)) throw waits ? partlyApplied(error) : error
      }
    }
    return results
  }

  /** Writes the changes one after the other with the general statement. */
  async #applyOn(
    send: Send,
    changes: readonly Change[],
    options: ApplyOptions<Tx>,
    progress: Progress,
  ): Promise<Judgement[]> {
    const { tx } = options
    const { namespace, statements, definitions, looks } = this.#parts
    const busy = this.#newlyBusy(options, changes)
    const finished = tx === undefined ? this.#claims.finishing(changes) : []
    const header = this.#generalHeader(options, busy, finished)
    const values = [namespace, ...applyValues(header, changes, definitions)]
    const answer = await send<ApplyAnswer>(statements.apply, values)
    const found = judgementsOf(answer, changes.length)
    noteAnswer(progress, answer)
    const written = changes.filter((_, index) => found[index]!.kind === 'applied')
    if (busy !== null && written.length > 0) this.#saidBusyAt = performance.now()
    if (tx !== undefined) {
      for (const { state } of written) if (state !== null) looks.written(state)
      return found
    }
    this.#noteWritten(written, finished, answer.kept ?? null)
    for (const [id, places] of answer.claims ?? []) {
      this.#claims.add(
        id,
        places.map((place) => changes[place]!),
      )
    }
    return found
  }

  #generalHeader(options: ApplyOptions<Tx>, busy: string | null, finished: readonly number[]): ApplyHeader {
    const { claimant, app, activity } = options
    return {
      instance: claimant?.instance ?? null,
      lease_ms: claimant?.leaseMs ?? null,
      renew: claimant?.renew ?? false,
      channel: this.#channelFor(options, busy),
      payload: this.#payloadFor(options, busy),
      app: app?.name ?? null,
      app_version: app?.version ?? null,
      finished,
      activity,
    }
  }

  #noteWritten(written: readonly Change[], finished: readonly number[], kept: readonly number[] | null): void {
    const { looks, definitions } = this.#parts
    for (const { state } of written) {
      if (state === null) continue
      looks.written(state)
      definitions.wrote(state)
    }
    this.#claims.settled(written, finished, kept)
  }

  /** Where the statement notifies peers. `null`: nowhere. */
  #channelFor({ wake = false }: ApplyOptions<Tx>, busy: string | null): string | null {
    return wake || busy !== null ? this.#parts.wakeUp.channel : null
  }

  #payloadFor({ tx, wake = false }: ApplyOptions<Tx>, busy: string | null): string {
    const { wakeUp } = this.#parts
    if (busy !== null) return wakeUp.busyPayload(busy, wake)
    // This process ignores its own payload. When a user's transaction commits, it must be notified like its peers.
    return tx === undefined ? wakeUp.payload : ''
  }

  /**
   * The claimant, if its peers must learn that it holds runs, since they watch such instances. Sent when that begins, and again
   * often enough that they keep watching, but not with every claim.
   */
  #newlyBusy({ claimant }: ApplyOptions<Tx>, changes: readonly Change[]): string | null {
    if (claimant === undefined || performance.now() - this.#saidBusyAt <= BUSY_MS / 2) return null
    return changes.some(({ state }) => state?.open.some(({ run }) => run !== null) === true) ? claimant.instance : null
  }

  async #resultOf(send: Send, change: Change, place: number): Promise<ChangeResult> {
    const fire = await this.#findFire(send, change.creates[place]!)
    return fire === null ? { kind: 'conflict' } : { kind: 'exists', fire }
  }

  /** The record of a fire that a change must not create. `null`: the record has been deleted since. */
  async #findFire(send: Send, fire: FireKey): Promise<FireRecord | null> {
    const { asker, schema, namespace } = this.#parts
    const { values, ...statement } = selectFire(schema, namespace, fire)
    return fireOf(...(await asker.askStates<PageAnswer>(send, statement, values)))
  }
}

function writtenOf({ changes, keys }: Plan, answer: PlainAnswer): readonly Change[] {
  if (answer.none) return NONE_WRITTEN
  if (answer.keys === null) return changes
  const written = new Set(answer.keys)
  return changes.filter((_, index) => written.has(keys[index]!))
}

function noteAnswer(progress: Progress, answer: { readonly now: number; readonly renewed?: boolean }): void {
  progress.now = answer.now
  progress.renewed ||= answer.renewed ?? false
}

/** The whole batch was refused because of a conflict with another transaction. */
function isConflict(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'STORE_CONFLICT' && error.notApplied
}
