import type { AppRecord } from '../../model/app.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Context } from '../../policy/decision.ts'
import { announceRetirements, findDeployment } from '../../policy/deploy/deployment.ts'
import { adopt, retire, settleHeld } from '../../policy/deploy/retire.ts'
import type { Decide } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import { isOf, type Wish } from './declarations.ts'
import type { GuardedWrites, Progress } from './guarded-writes.ts'
import type { Named } from './other-names.ts'
import { planRenames } from './plan-renames.ts'

const BATCH = 200

/** Reads the names of jobs that have several, and writes what a rename takes. */
export class Renamer {
  readonly #core: Core
  readonly #writes: GuardedWrites

  constructor(core: Core, writes: GuardedWrites) {
    this.#core = core
    this.#writes = writes
  }

  /**
   * First the old name is retired and holds the job, then the new one takes over from it. A process that dies in between leaves a holder, and
   * the next process that declares any name of the job takes over from that.
   */
  async rename(record: AppRecord, wishes: ReadonlyMap<string, Wish>): Promise<Progress> {
    const { app, deployment } = this.#core.settings
    const { number } = findDeployment(record, deployment)!
    const named = await this.load(wishes)
    if (named.context === null) return 'done'
    const { stops, held, adopted } = planRenames({ record, deployment, named, context: named.context })
    if (held.length > 0) {
      const decide: Decide = (_, state, at) => (state === null ? null : settleHeld(state, at))
      const settled = await this.#writes.change('rename', held, decide, record)
      if (settled !== 'done') return settled
    }
    if (adopted.size > 0) {
      const decide: Decide = (name, state, at) => (state === null ? null : adopt(state, adopted.get(name)!, at))
      const done = await this.#writes.change('rename', [...adopted.keys()], decide, record)
      if (done !== 'done') return done
    }
    if (stops.size === 0) return 'done'
    const announced = announceRetirements(record, [...stops.keys()])
    if (!(await this.#writes.save(announced))) return 'outdated'
    const decide: Decide = (was, state, at) =>
      state === null ? null : retire(state, { app, cause: 'renamed', deployment, number, ...stops.get(was)! }, at)
    await this.#writes.change('rename', [...stops.keys()], decide, announced)
    // The record has another version now.
    return 'outdated'
  }

  /** The schedules of this app by all names of the jobs that have several; by the names of this process, those of others, too. */
  async load(wishes: ReadonlyMap<string, Wish>): Promise<Named> {
    const core = this.#core
    const several = [...wishes.values()].filter(({ otherNames }) => otherNames.length > 0)
    const ids = several.flatMap(({ id, otherNames }) => [id, ...otherNames])
    const states = new Map<string, ScheduleState>()
    const foreign = new Map<string, ScheduleState>()
    let context: Context | null = null
    for (let start = 0; start < ids.length; start += BATCH) {
      const batch = ids.slice(start, start + BATCH)
      const loaded = await callStore(core, 'rename (read)', () => core.parts.store.load(batch))
      context = core.context(loaded)
      for (const state of loaded.schedules) {
        if (isOf(state, core.settings.app) || wishes.has(state.id)) states.set(state.id, state)
        else if (state.source.kind === 'code') foreign.set(state.id, state)
      }
    }
    return { states, foreign, context, several }
  }
}
