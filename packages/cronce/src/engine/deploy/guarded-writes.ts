import type { AppRecord } from '../../model/app.ts'
import type { FireRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Context, Decision } from '../../policy/decision.ts'
import { advance } from '../../policy/plan/advance.ts'
import { nextBackfillStretch } from '../../policy/plan/backfill.ts'
import type { Changed } from '../../store/change-schedules.ts'
import { changeAsInstance, type Decide } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import { describeError } from '../describe-error.ts'
import { callStore } from '../store-calls.ts'
import { isOf } from './declarations.ts'

/** `outdated`: the app's record changed meanwhile. */
export type Progress = 'done' | 'unfinished' | 'outdated'

/** Most records in the way that are kept for one schedule. */
const MOST_ON_RECORD = 200

/** Writes records of apps, and decisions about schedules that hold only as long as such a record has not changed. */
export class GuardedWrites {
  readonly #core: Core
  /** By schedule, instants on record that an earlier schedule of the name left. */
  readonly #onRecord = new Map<string, FireRecord[]>()

  constructor(core: Core) {
    this.#core = core
  }

  /** False: another process has changed the record. Throws when the store does. */
  save(record: AppRecord): Promise<boolean> {
    return callStore(this.#core, 'deploy', () => this.#core.parts.store.saveApp(record))
  }

  /**
   * Writes decisions that depend on the app's record. An instant that is on record already is passed over first, as an instance does that
   * plans. Throws when the store does.
   */
  async change(operation: string, ids: readonly string[], decide: Decide, record: AppRecord): Promise<Progress> {
    let isDone = true
    const changed = new Map<string, Changed>()
    const decideOne: Decide = (id, state, context) => {
      const passed = this.#passOver(id, state, context)
      if (passed !== null) isDone = false
      return passed ?? decide(id, state, context)
    }
    const guard = { app: { name: record.name, version: record.version } }
    try {
      await changeAsInstance(this.#core, operation, ids, decideOne, guard, changed)
    } catch (error) {
      const { code } = describeError(error)
      if (code === 'APP_CHANGED') return 'outdated'
      // A schedule that another transaction has locked must not keep an instance from starting.
      if (code !== 'CONTENTION') throw error
      isDone = false
    }
    return this.#rememberRefused(changed) && isDone ? 'done' : 'unfinished'
  }

  /** Only for a schedule of this app: another app's schedule is not planned here. */
  #passOver(id: string, state: ScheduleState | null, context: Context): Decision | null {
    const inTheWay = this.#onRecord.get(id)
    if (state === null || inTheWay === undefined || !isOf(state, this.#core.settings.app)) return null
    return nextBackfillStretch(state) === null ? advance(state, context, null, inTheWay) : null
  }

  /** False: the store refused at least one decision. */
  #rememberRefused(changed: ReadonlyMap<string, Changed>): boolean {
    let isAllWritten = true
    for (const [id, outcome] of changed) {
      const met = this.#onRecord.get(id) ?? []
      this.#onRecord.delete(id)
      if (outcome.kind !== 'refused') continue
      isAllWritten = false
      // Keep all that were met so far: of two on record, each would otherwise make this process forget the other.
      const { result } = outcome
      if (result.kind === 'exists') this.#onRecord.set(id, [...met, result.fire].slice(-MOST_ON_RECORD))
    }
    return isAllWritten
  }
}
