import { setTimeout as sleep } from 'node:timers/promises'
import type { Change } from '../../model/change.ts'
import type { FireRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { findTwin } from '../matches.ts'
import type { Applied, ApplyOptions, ChangeResult, Claimant } from '../store.ts'
import { partlyApplied, StoreError } from '../store-error.ts'
import type { Context } from './context.ts'
import { type Guard, LeaseEnded, type Put, type Read } from './driver.ts'
import { findExisting, readFacts } from './facts.ts'
import { encodeName } from './keys.ts'
import type { Leases } from './leases.ts'
import { MOST_GUARDED_CREATES, type Planned, planChange } from './plan-change.ts'
import { trim } from './prune.ts'
import type { Known, Schedules } from './schedules.ts'
import { SlotCounter } from './slots.ts'

const APPLIED: ChangeResult = { kind: 'applied' }
const CONFLICT: ChangeResult = { kind: 'conflict' }
const EARLY: ChangeResult = { kind: 'early' }
const NOT_LIVE: ChangeResult = { kind: 'not-live' }

/** How often a write is decided again because something that it depends on has moved: a limit, the floor, the epoch. */
const MOST_ROUNDS = 100
/** Each takes a guard of the commit, and servers allow about a hundred. */
const MOST_SLOTS = 64
/** The clock is known to within this, as a rule: wait for it instead of refusing. */
const EARLY_WAIT_MS = 25

type Options = Pick<ApplyOptions<unknown>, 'claimant' | 'app' | 'wake'>

export interface ChangeParts {
  readonly context: Context
  readonly schedules: Schedules
  readonly leases: Leases
  /** What wakes the peers, if the caller asks for it. */
  readonly wakePut: () => Put
}

/** One call of `apply`. */
export class ChangeWriter {
  readonly #parts: ChangeParts
  readonly #changes: readonly Change[]
  readonly #options: Options
  readonly #results: (ChangeResult | undefined)[]
  #hasWritten = false
  #renewed = false
  /** The claimant is not live. */
  #isOver = false

  constructor(parts: ChangeParts, changes: readonly Change[], options: Options) {
    this.#parts = parts
    this.#changes = changes
    this.#options = options
    this.#results = changes.map(() => undefined)
  }

  async apply(): Promise<Applied> {
    try {
      // A key is written once per commit, so two changes of one schedule are two commits.
      for (const places of apart(this.#changes)) await this.#write(places)
      if (this.#changes.length === 0 && this.#options.claimant !== undefined) await this.#write([])
      await this.#trim()
    } catch (error) {
      throw this.#hasWritten ? partlyApplied(error) : error
    }
    const results = this.#results.map((result) => result!)
    return { now: this.#parts.context.time.now(), renewed: this.#renewed, results }
  }

  async #write(places: readonly number[]): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const undecided = places.filter((place) => this.#results[place] === undefined)
      const pending = this.#fewSlots(undecided)
      if (pending.length === 0 && (this.#options.claimant === undefined || this.#renewed || this.#isOver)) return
      await this.#writeRound(pending)
    }
    const { name } = this.#parts.context.driver
    throw new StoreError('STORE_BUSY', `Other processes changed ${name} before every write.`, {
      hint: 'Try again.',
    })
  }

  /** The first of them, as many as one commit can guard the limits of. The others follow in later rounds. */
  #fewSlots(places: readonly number[]): readonly number[] {
    const slots = new Set<string>()
    const end = places.findIndex((place, index) => {
      for (const { slot } of this.#changes[place]!.limits) slots.add(slot)
      return index > 0 && slots.size > MOST_SLOTS
    })
    return end === -1 ? places : places.slice(0, end)
  }

  async #writeRound(pending: readonly number[]): Promise<void> {
    const { context, schedules, leases } = this.#parts
    const { claimant } = this.#options
    const changes = pending.map((place) => this.#changes[place]!)
    const unseen = changes.filter(({ id, version }) => schedules.known(id)?.state.version !== version)
    await schedules.loadKnown(unseen.map(({ id }) => id))
    const facts = await readFacts(context, schedules, changes)
    await this.#waitFor(changes)
    const slots = new SlotCounter(facts.slots)
    const writing: { readonly place: number; readonly planned: Planned }[] = []
    for (const [index, place] of pending.entries()) {
      const change = this.#changes[place]!
      const before = schedules.known(change.id)
      const refusal = await this.#refusal(change, before, slots)
      if (refusal === 'later') continue
      this.#results[place] = refusal
      if (refusal !== undefined) continue
      slots.admit(change, before?.state)
      const planning = { keys: context.keys, now: context.time.now(), place: writing.length }
      writing.push({ place, planned: planChange(planning, change, before, facts.of[index]!) })
    }
    if (writing.length === 0 && claimant === undefined) return
    const isFloorMoved = writing.some(({ place }) => isFloorChange(this.#changes[place]!))
    const floor = isFloorMoved
      ? facts.floorFor(
          writing.map(({ place }) => this.#changes[place]!),
          schedules,
        )
      : null
    const guards: Guard[] = [context.identity.guard, ...slots.guards(context.keys), ...(floor?.guards ?? [])]
    const puts: Put[] = [...(floor?.puts ?? []), ...this.#bells(writing.map(({ planned }) => planned))]
    try {
      if (claimant !== undefined) puts.push(...(await leases.renewal(claimant.instance, claimant.leaseMs)))
      await this.#commit(guards, puts, writing)
    } catch (error) {
      // Nothing was written: the next round grants a new lease.
      if (!(error instanceof LeaseEnded) || claimant === undefined) throw error
      leases.forget(claimant.instance)
    }
  }

  async #commit(
    guards: readonly Guard[],
    puts: readonly Put[],
    writing: readonly { readonly place: number; readonly planned: Planned }[],
  ): Promise<void> {
    const { context, schedules } = this.#parts
    const { keys, driver, identity } = context
    const { claimant } = this.#options
    const live = claimant === undefined ? [] : [instanceKey(context, claimant)]
    const liveness = live.map((key): Guard => ({ key, is: 'present' }))
    const reads: Read[] = [keys.meta, ...live].map((get) => ({ get }))
    const appGuards = this.#appGuards()
    const answer = await driver.commit({
      guards: [...guards, ...liveness],
      puts,
      groups: writing.map(({ planned: { group } }) => ({ ...group, guards: [...group.guards, ...appGuards] })),
      reads,
    })
    const [meta, instance] = answer.found.map(({ entries }) => entries[0])
    identity.refresh(meta)
    if (!answer.isHeld) {
      if (claimant !== undefined && instance === undefined) this.#refuseAll()
      return
    }
    this.#renewed ||= claimant !== undefined
    const refused: number[] = []
    for (const [index, isWritten] of answer.written.entries()) {
      const { place, planned } = writing[index]!
      const { id } = this.#changes[place]!
      if (isWritten) {
        this.#hasWritten = true
        this.#results[place] = APPLIED
        schedules.remember(id, planned.next && { ...planned.next, revision: answer.revision })
      } else {
        schedules.remember(id, null)
        refused.push(place)
      }
    }
    await Promise.all(refused.map((place) => this.#explain(place)))
  }

  /** Why a group was not written: a fire is on record, or the schedule or the app has changed. */
  async #explain(place: number): Promise<void> {
    const { context, schedules } = this.#parts
    const change = this.#changes[place]!
    const [known] = await schedules.loadKnown([change.id])
    const isCurrent = (known?.state.version ?? 0) === change.version && (await this.#isAppCurrent())
    const fire = isCurrent ? await findExisting(context, change, known?.state) : null
    this.#results[place] = fire === null ? CONFLICT : { kind: 'exists', fire }
  }

  async #refusal(
    change: Change,
    before: Known | undefined,
    slots: SlotCounter,
  ): Promise<ChangeResult | 'later' | undefined> {
    const { context } = this.#parts
    if (change.epoch !== context.identity.epoch || (before?.state.version ?? 0) !== change.version) return CONFLICT
    if (change.notBefore !== null && context.time.now() < change.notBefore) return EARLY
    const existing = await this.#existing(change, before?.state)
    if (existing !== null) return { kind: 'exists', fire: existing }
    const full = slots.fullFor(change, before?.state)
    if (full === null || full === 'later') return full ?? undefined
    const fire = await findExisting(context, change, before?.state)
    return fire === null ? { kind: 'full', slot: full.slot } : { kind: 'exists', fire }
  }

  /** What can be told before the write. */
  async #existing(change: Change, state: ScheduleState | undefined): Promise<FireRecord | null> {
    if (change.creates.length === 0) return null
    const isOpen = change.creates.some((fire) =>
      state?.open.some(({ dueAt, nonce }) => (nonce === '' ? dueAt === fire.dueAt : true) && nonce === fire.nonce),
    )
    if (isOpen || change.creates.length > MOST_GUARDED_CREATES) {
      const fire = await findExisting(this.#parts.context, change, state)
      if (fire !== null) return fire
    }
    return findTwin(change)
  }

  async #waitFor(changes: readonly Change[]): Promise<void> {
    const { time } = this.#parts.context
    const latest = Math.max(...changes.map(({ notBefore }) => notBefore ?? Number.NEGATIVE_INFINITY))
    const early = latest - time.now()
    if (early > 0 && early <= EARLY_WAIT_MS) await sleep(early + 1)
  }

  #bells(planned: readonly Planned[]): Put[] {
    const { context, wakePut } = this.#parts
    const { keys } = context
    const { from } = keys.below('f')
    const hasLines = planned.some(({ group }) => group.puts.some(({ key }) => key.startsWith(from)))
    const wakes = this.#options.wake === true && planned.length > 0
    // A claimant is live. Any other may be over by now, and its runs must be found as orphans.
    const others = new Set(planned.flatMap(({ instances }) => instances))
    others.delete(this.#options.claimant?.instance ?? '')
    return [
      ...(hasLines ? [{ key: keys.lineBell, value: '' }] : []),
      ...(wakes ? [wakePut()] : []),
      ...[...others].map((instance) => ({ key: keys.key('go', encodeName(instance)), value: '' })),
    ]
  }

  #appGuards(): Guard[] {
    const { app } = this.#options
    // Saved once per version, from 1 on.
    return app === undefined
      ? []
      : [{ key: this.#parts.context.keys.app(app.name), is: 'version', version: app.version }]
  }

  async #isAppCurrent(): Promise<boolean> {
    const { app } = this.#options
    if (app === undefined) return true
    const { driver, keys } = this.#parts.context
    const { found } = await driver.read([{ get: keys.app(app.name) }])
    return (found[0]!.entries[0]?.version ?? 0) === app.version
  }

  #refuseAll(): void {
    this.#isOver = true
    for (const [place, result] of this.#results.entries())
      if (result?.kind !== 'applied') this.#results[place] = NOT_LIVE
  }

  /** Afterwards: `trimmedBefore` has moved already, and what is left the next trim deletes. */
  async #trim(): Promise<void> {
    for (const [place, { id, trim: wanted }] of this.#changes.entries()) {
      if (wanted === null || this.#results[place]?.kind !== 'applied') continue
      await trim(this.#parts.context, id, wanted).catch(() => {})
    }
  }
}

function isFloorChange({ version, state }: Change): boolean {
  return version === 0 || state === null
}

function instanceKey({ keys }: Context, { instance }: Claimant): string {
  return keys.key('i', encodeName(instance))
}

/** Places of changes, in order, in stretches in which no schedule comes twice. */
function apart(changes: readonly Change[]): number[][] {
  const stretches: number[][] = []
  let ids = new Set<string>()
  for (const [place, { id }] of changes.entries()) {
    if (stretches.length === 0 || ids.has(id)) {
      stretches.push([])
      ids = new Set()
    }
    ids.add(id)
    stretches.at(-1)!.push(place)
  }
  return stretches
}
