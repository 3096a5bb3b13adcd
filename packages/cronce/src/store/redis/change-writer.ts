import type { Change } from '../../model/change.ts'
import { findTwin } from '../matches.ts'
import type { Applied, ApplyOptions, ChangeResult } from '../store.ts'
import type { WakeUp } from '../wake-up.ts'
import { afterEarlierWrites, batchesOf, CONFLICT, NOT_LIVE, pushChange, type Verdict, verdictsOf } from './apply.ts'
import { encodeName, memberOf } from './keys.ts'
import type { Session } from './link.ts'
import { viewFire } from './list-records.ts'
import type { Asker, AskScript } from './moment.ts'
import { PlainBatch } from './plain-batch.ts'
import type { Schedules } from './schedules.ts'
import { APPLY } from './scripts.ts'
import { editionOf, knownOf } from './state-line.ts'

/** How long peers believe that an instance holds runs after it said so. */
const BUSY_MS = 60_000

export interface ChangeWriterParts {
  readonly asker: Asker
  /** Sends requests while the store is open. */
  readonly ask: AskScript
  readonly schedules: Schedules
  readonly session: Session
  readonly wakeUp: WakeUp
  /** Write plain changes with the scripts for them. */
  readonly usesPlain: boolean
}

/** Writes changes: plain ones with the scripts for them, all others with the general script. */
export class ChangeWriter {
  readonly #parts: ChangeWriterParts
  /** When this process last told its peers that it holds runs, by the monotonic clock. */
  #saidBusyAt = Number.NEGATIVE_INFINITY

  constructor(parts: ChangeWriterParts) {
    this.#parts = parts
  }

  async apply(changes: readonly Change[], options: ApplyOptions<never>): Promise<Applied> {
    const results: ChangeResult[] = new Array(changes.length)
    const { wake = false, claimant } = options
    let now = 0
    let renewed = false
    const batches = changes.length === 0 ? [{ changes: [], places: [] }] : batchesOf(changes)
    for (const { changes: batch, places } of batches) {
      const twins = batch.map(findTwin)
      const sound = batch.filter((_, index) => twins[index] === null)
      const answer = await afterEarlierWrites(now > 0, () => this.#applyBatch(sound, options))
      now = answer.now
      renewed = answer.renewed
      let next = 0
      for (const [index, place] of places.entries()) {
        const fire = twins[index]!
        results[place] = fire === null ? answer.results[next++]! : { kind: 'exists', fire }
      }
    }
    if (claimant !== undefined && results.some(({ kind }) => kind === 'applied') && this.#isNewlyBusy(changes))
      this.#saidBusyAt = performance.now()
    if (wake) this.#parts.wakeUp.ring()
    return { now, renewed, results }
  }

  async #applyBatch(changes: readonly Change[], options: ApplyOptions<never>, isSecond = false): Promise<Applied> {
    const { claimant } = options
    const common = this.#commonArgs(changes, options)
    const plain = await this.#applyPlain(changes, common, claimant?.instance)
    const rest = changes.filter((_, index) => plain.results[index] === null)
    if (changes.length > 0 && rest.length === 0) return { ...plain, results: plain.results as ChangeResult[] }
    const general = await afterEarlierWrites(plain.now > 0, () => this.#applyGeneral(rest, common, options, isSecond))
    let next = 0
    return { ...general, results: plain.results.map((result) => result ?? general.results[next++]!) }
  }

  /** The first arguments of all scripts that write changes: the claimant, how to notify peers, and the app. */
  #commonArgs(changes: readonly Change[], { claimant, app, wake = false }: ApplyOptions<never>): string[] {
    const { session, wakeUp } = this.#parts
    const isBusy = claimant !== undefined && this.#isNewlyBusy(changes)
    return [
      claimant === undefined ? '' : encodeName(claimant.instance),
      claimant === undefined ? '' : String(claimant.leaseMs),
      wake || isBusy ? session.publish : '',
      wakeUp.channel,
      isBusy ? wakeUp.busyPayload(claimant.instance, wake) : wakeUp.payload,
      app === undefined ? '' : encodeName(app.name),
      app === undefined ? '' : String(app.version),
    ]
  }

  async #applyPlain(changes: readonly Change[], common: readonly string[], claimant: string | undefined) {
    const { ask, schedules, asker, usesPlain } = this.#parts
    const batch = new PlainBatch({ ask, schedules, epoch: asker.epoch }, changes, common)
    if (usesPlain) await batch.write(claimant)
    const { now, results } = batch
    const isNotLive = results.some((result) => result === NOT_LIVE)
    return { now, renewed: claimant !== undefined && !isNotLive, results }
  }

  async #applyGeneral(
    changes: readonly Change[],
    common: readonly string[],
    options: ApplyOptions<never>,
    isSecond: boolean,
  ): Promise<Applied> {
    const args = [...common]
    const { ask, schedules } = this.#parts
    const { definitions } = schedules
    const unknown = changes.filter(({ id, version, state }) => version > 0 && state !== null && !definitions.last(id))
    if (unknown.length > 0) await schedules.learn(unknown.map(({ id }) => id))
    const written = changes.map((change) => pushChange(args, change, definitions.last(change.id)))
    const { now, lines } = await ask(APPLY, args)
    const verdicts = verdictsOf(lines, changes)
    for (const [index, verdict] of verdicts.entries()) {
      const { id, state } = changes[index]!
      const head = 'head' in verdict ? verdict.head : undefined
      const settings = written[index]!
      if (settings !== null && head !== undefined) definitions.remember(id, { ...settings, edition: editionOf(head) })
      const last = definitions.last(id)
      const isKnown = head !== undefined && state !== null && last?.edition === editionOf(head)
      schedules.rememberLine(id, isKnown ? knownOf(memberOf(id), head.split(' '), state, last) : null)
    }
    const renewed = options.claimant !== undefined && lines[0] !== 'n'
    return {
      now,
      renewed,
      results: await afterEarlierWrites(true, () => this.#finish(changes, verdicts, options, isSecond)),
    }
  }

  /**
   * Asks the store once more where an answer needs it: for the fire that exists, and to apply changes again that were decided on
   * outdated settings.
   */
  async #finish(
    changes: readonly Change[],
    verdicts: readonly Verdict[],
    options: ApplyOptions<never>,
    isSecond: boolean,
  ): Promise<ChangeResult[]> {
    const again = changes.filter((_, index) => 'again' in verdicts[index]!)
    const results = await this.#applyAgain(again, options, isSecond)
    return Promise.all(
      verdicts.map(async (verdict, index): Promise<ChangeResult> => {
        if ('result' in verdict) return verdict.result
        if ('again' in verdict) return results.shift()!
        const fire = await viewFire(this.#parts, changes[index]!.id, verdict.exists)
        // The record has been deleted since, so the caller may decide again.
        return fire === null ? { kind: 'conflict' } : { kind: 'exists', fire }
      }),
    )
  }

  async #applyAgain(
    changes: readonly Change[],
    options: ApplyOptions<never>,
    isSecond: boolean,
  ): Promise<ChangeResult[]> {
    if (changes.length === 0 || isSecond) return changes.map(() => CONFLICT)
    await this.#parts.schedules.learn(changes.map(({ id }) => id))
    return [...(await this.#applyBatch(changes, options, true)).results]
  }

  /**
   * Whether peers must learn that the claimant holds runs, since they watch such instances. Sent when that begins, and again
   * often enough that they keep watching, but not with every claim.
   */
  #isNewlyBusy(changes: readonly Change[]): boolean {
    return (
      performance.now() - this.#saidBusyAt > BUSY_MS / 2 &&
      changes.some(({ state }) => state?.open.some(({ run }) => run !== null))
    )
  }
}
