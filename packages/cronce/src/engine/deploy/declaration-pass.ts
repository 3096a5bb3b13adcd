import type { RefusedDeclaration } from '../../model/app.ts'
import type { FireRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Context, Decision, Refusal } from '../../policy/decision.ts'
import { type DefineWish, define, HELD_BY_OTHER_NAME, RECORD_UNREAD } from '../../policy/operate/define.ts'
import { isRefusal } from '../../policy/refusals.ts'
import type { Core } from '../core.ts'
import { isOf, type Wish } from './declarations.ts'
import type { Progress } from './guarded-writes.ts'
import { type Elsewhere, findElsewhere, lastOwnName, type Named, otherHolder, otherJob } from './other-names.ts'
import { NAME_TAKEN, refusalOf } from './report-refusals.ts'
import type { DeploymentWatch } from './watch-deployments.ts'

/** A schedule whose records were read, as of this version. Without a version: it did not exist. */
export interface Read {
  readonly id: string
  readonly version: number | undefined
}

/** What is on record at the one instant that a job declares. It counts for the version that was read before. */
export interface ReadInstant extends Read {
  readonly records: readonly FireRecord[]
}

interface Declared {
  readonly wishes: ReadonlyMap<string, Wish>
  readonly named: Named
  /** By schedule. */
  readonly atInstant: ReadonlyMap<string, ReadInstant>
  readonly watch: DeploymentWatch
}

/** One pass over the declarations of this process: decides about each, and collects what is left to do. */
export class DeclarationPass {
  readonly #core: Core
  readonly #declared: Declared
  /** Declared under a name that waits for another name of the job. */
  readonly #held = new Set<string>()
  /** Refusals of the current batch. */
  readonly #found = new Map<string, Refusal>()
  readonly refused: RefusedDeclaration[] = []
  /** Declared names that schedules of another app have. */
  readonly foreign = new Set<string>()
  /** By other app, the names that it has, and what this process declares for each. */
  readonly taken = new Map<string, Map<string, Wish>>()
  /** Schedules whose records must be read before it can be decided. */
  readonly unread: Read[] = []
  isUnfinished = false

  constructor(core: Core, declared: Declared) {
    this.#core = core
    this.#declared = declared
  }

  decide(id: string, state: ScheduleState | null, context: Context): Decision | null {
    const { wishes, named } = this.#declared
    const wish = wishes.get(id)!
    const elsewhere = findElsewhere(wish, named)
    if (elsewhere !== undefined) {
      this.#refuseElsewhere(wish, state, elsewhere)
      return null
    }
    const decision = define(state, id, this.#wishOn(state, wish), context)
    if (decision === null || !isRefusal(decision)) return decision
    this.#refuse(wish, state, decision)
    return null
  }

  /** The decisions of a batch were written. */
  endBatch(written: Progress): void {
    if (written === 'unfinished') this.isUnfinished = true
    for (const [schedule, refusal] of this.#found) this.refused.push(refusalOf(this.#core, schedule, refusal))
    this.#found.clear()
  }

  /** Whether the declared name waits for another schedule to leave it. */
  isWaiting(id: string): boolean {
    return this.#held.has(id) || this.refused.some(({ schedule, code }) => schedule === id && code === NAME_TAKEN)
  }

  #refuseElsewhere(wish: Wish, state: ScheduleState | null, { state: theirs, isWanted, refusal }: Elsewhere): void {
    if (isWanted) this.#want(theirs, wish)
    if (state !== null && this.#isForeign(state)) this.foreign.add(wish.id)
    this.#found.set(wish.id, refusal)
  }

  #refuse(wish: Wish, state: ScheduleState | null, refusal: Refusal): void {
    const { id } = wish
    if (refusal.refused === RECORD_UNREAD) {
      this.unread.push({ id, version: state?.version })
      return
    }
    if (refusal.refused === HELD_BY_OTHER_NAME) {
      this.#held.add(id)
      this.isUnfinished = true
      return
    }
    if (refusal.refused === NAME_TAKEN && state !== null && this.#isForeign(state)) {
      this.#want(state, wish)
      this.foreign.add(id)
    }
    // A schedule that a newer deployment defines is as it should be.
    if (refusal.refused !== 'DEPLOYMENT_SUPERSEDED') this.#found.set(id, refusal)
  }

  #want({ id: name, source }: ScheduleState, wish: Wish): void {
    if (source.kind !== 'code') return
    const { app } = source
    this.#declared.watch.want(app)
    const standing = { ...wish.standing!, takesFrom: app }
    const wanted = { ...wish, standing, holder: otherHolder(wish, null, this.#declared.named) }
    this.taken.set(app, new Map([...(this.taken.get(app) ?? []), [name, wanted]]))
  }

  #wishOn(state: ScheduleState | null, wish: Wish): DefineWish {
    const { atInstant, named } = this.#declared
    const read = atInstant.get(wish.id)
    const onRecord = read?.version === state?.version ? read?.records : undefined
    const continuedBy = otherJob(wish, state, named.states)
    const isLeft = continuedBy !== undefined || named.left.has(lastOwnName(wish, named)?.id ?? '')
    const other = { ...(continuedBy === undefined ? {} : { continuedBy }), isLeft }
    return { ...wish, ...other, holder: otherHolder(wish, state, named), onRecord }
  }

  /** Whether the code of another app declares the schedule. */
  #isForeign(state: ScheduleState): boolean {
    return state.source.kind === 'code' && !isOf(state, this.#core.settings.app)
  }
}
