import type { Change } from '../../model/change.ts'
import type { ChangeResult } from '../store.ts'
import { APPLIED, afterEarlierWrites, CONFLICT, NOT_LIVE } from './apply.ts'
import { isUnchanged } from './definitions.ts'
import { encodeName, whole } from './keys.ts'
import type { Script } from './link.ts'
import type { AskScript } from './moment.ts'
import {
  type Placed as PlacedChange,
  type PlainClaim,
  type PlainSettlement,
  plainClaim,
  plainSettlement,
  pushGroups,
} from './plain.ts'
import type { Schedules } from './schedules.ts'
import { CLAIM, SETTLE } from './scripts.ts'
import type { KnownLine } from './state-line.ts'

export interface PlainParts {
  readonly ask: AskScript
  readonly schedules: Schedules
  /** The store's epoch, as far as this process knows. */
  readonly epoch: number
}

/** Changes of different schedules. Plain ones are written by the scripts for claims and for settlements. */
export class PlainBatch {
  /** `null` for changes that are not plain, or that the scripts could not write. */
  readonly results: (ChangeResult | null)[]
  /** The store's time at the last write. 0: there was none. */
  now = 0
  readonly #parts: PlainParts
  readonly #changes: readonly Change[]
  /** The first arguments of all scripts that write changes. */
  readonly #common: readonly string[]
  readonly #claims: PlacedChange<PlainClaim>[] = []
  readonly #settlements: PlacedChange<PlainSettlement>[] = []

  constructor(parts: PlainParts, changes: readonly Change[], common: readonly string[]) {
    this.#parts = parts
    this.#changes = changes
    this.#common = common
    this.results = changes.map(() => null)
  }

  async write(claimant: string | undefined): Promise<void> {
    this.#sort(claimant)
    if (this.#claims.length > 0) await this.#send(CLAIM, this.#claims, [])
    for (const group of Map.groupBy(this.#settlements, ({ plain }) => plain.instance).values()) {
      const times = [
        Math.min(...group.map(({ plain }) => plain.earliest)),
        Math.max(...group.map(({ plain }) => plain.latest)),
      ]
      await this.#send(SETTLE, group, [encodeName(group[0]!.plain.instance), ...times.map(whole)])
    }
  }

  /** Finds the plain changes: this process knows the line of the schedule, and its settings stay as they are. */
  #sort(claimant: string | undefined): void {
    const { schedules, epoch } = this.#parts
    for (let place = 0; place < this.#changes.length; place++) {
      const change = this.#changes[place]!
      const known = change.epoch === epoch ? schedules.known(change.id) : undefined
      if (known === undefined || change.state === null || !isUnchanged(known.settings, change.state)) continue
      const { job } = known.settings.definition
      const claim = plainClaim(change, known)
      if (claim !== null && claim.instance === claimant) this.#claims.push({ plain: claim, job, place })
      const settlement = claim === null ? plainSettlement(change, known) : null
      if (settlement !== null) this.#settlements.push({ plain: settlement, job, place })
    }
  }

  async #send<Item extends PlainClaim | PlainSettlement>(
    script: Script,
    sent: readonly PlacedChange<Item>[],
    more: readonly string[],
  ): Promise<void> {
    const { ask, epoch } = this.#parts
    let notBefore = Number.NEGATIVE_INFINITY
    for (const { place } of sent) notBefore = Math.max(notBefore, this.#changes[place]!.notBefore ?? notBefore)
    const time = notBefore === Number.NEGATIVE_INFINITY ? '' : whole(notBefore)
    const values = [...this.#common, String(epoch), time, ...more]
    const sorted = pushGroups(values, sent)
    const answer = await afterEarlierWrites(this.now > 0, () => ask(script, values))
    this.now = answer.now
    // One letter per change, or one for all of them.
    const letters = answer.lines[0]!
    for (let index = 0; index < sorted.length; index++) {
      const { place, plain } = sorted[index]!
      this.#note(place, letters.length === 1 ? letters : letters[index]!, plain.next)
    }
  }

  #note(place: number, letter: string, next: KnownLine | null): void {
    const isApplied = letter === 'a'
    this.#parts.schedules.rememberLine(this.#changes[place]!.id, isApplied ? next : null)
    if (letter !== 'g') this.results[place] = isApplied ? APPLIED : letter === 'n' ? NOT_LIVE : CONFLICT
  }
}
