import type { AppRecord } from '../../model/app.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { announceRetirements, findDeployment } from '../../policy/deploy/deployment.ts'
import { passOver } from '../../policy/deploy/late-rename.ts'
import { adopt, retire, settleHeld, takeBack } from '../../policy/deploy/retire.ts'
import type { Decide } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import { isOf, type Wish } from './declarations.ts'
import { hasGoneOn } from './gone-on.ts'
import type { GuardedWrites, Progress } from './guarded-writes.ts'
import { loadNames } from './load-names.ts'
import { lastOwnName, type Named } from './other-names.ts'
import { planRenames } from './plan-renames.ts'

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
    const plan = planRenames({ record, deployment, named, context: named.context })
    const { stops, held, adopted } = plan
    if (plan.lost.length > 0) return await this.#takeBack(plan.lost, record)
    if (held.length > 0) {
      const decide: Decide = (_, state, at) => (state === null ? null : settleHeld(state, at))
      const settled = await this.#writes.change('rename', held, decide, record)
      if (settled !== 'done') return settled
    }
    const done = await adoptNames(this.#writes, adopted, record)
    if (done !== 'done') return done
    if (plan.passed.size > 0) return await this.#passOver(plan.passed, record)
    if (stops.size === 0) return 'done'
    const announced = announceRetirements(record, [...stops.keys()])
    if (!(await this.#writes.save(announced))) return 'outdated'
    const decide: Decide = (was, state, at) =>
      state === null ? null : retire(state, { app, cause: 'renamed', deployment, number, ...stops.get(was)! }, at)
    await this.#writes.change('rename', [...stops.keys()], decide, announced)
    // The record has another version now.
    return 'outdated'
  }

  /** `lost`: old names that are active again. */
  async #takeBack(lost: readonly string[], record: AppRecord): Promise<Progress> {
    // A process that takes over the new name meanwhile has read the old one as retired: its write is refused.
    const next = {
      ...record,
      version: record.version + 1,
      retired: record.retired.filter((name) => !lost.includes(name)),
    }
    if (!(await this.#writes.save(next))) return 'outdated'
    const decide: Decide = (_, state, at) => (state === null || !isOf(state, next.name) ? null : takeBack(state, at))
    await this.#writes.change('rename', lost, decide, next)
    return 'outdated'
  }

  /** `passed`: by active schedule, another name of its job that has gone further. Then that can be retired, unless it has gone on since. */
  async #passOver(passed: ReadonlyMap<string, ScheduleState>, record: AppRecord): Promise<Progress> {
    const { deployment } = this.#core.settings
    const { number } = findDeployment(record, deployment)!
    const decide: Decide = (id, state, at) =>
      state === null ? null : passOver(state, passed.get(id)!, { deployment, number }, at)
    await this.#writes.change('rename', [...passed.keys()], decide, record)
    return 'outdated'
  }

  /** The schedules that have a name of the jobs that have several. */
  async load(wishes: ReadonlyMap<string, Wish>): Promise<Named> {
    const { app } = this.#core.settings
    const several = [...wishes.values()].filter(({ was, otherNames }) => was !== undefined || otherNames.length > 0)
    const names = several.flatMap(({ id, was, otherNames }) => [id, ...otherNames, ...(was === undefined ? [] : [was])])
    const { schedules, context } = await loadNames(this.#core, 'rename (read)', names)
    const states = new Map<string, ScheduleState>()
    const foreign = new Map<string, ScheduleState>()
    for (const state of schedules) {
      const isOwn = isOf(state, app)
      if (isOwn || wishes.has(state.id)) states.set(state.id, state)
      if (!isOwn && state.source.kind === 'code') foreign.set(state.id, state)
    }
    const named = { app, states, foreign, context, several }
    return { ...named, left: await this.#findLeft({ ...named, left: new Set() }, schedules) }
  }

  async #findLeft(named: Named, schedules: readonly ScheduleState[]): Promise<ReadonlySet<string>> {
    const left = new Set<string>()
    for (const last of new Set(named.several.flatMap((wish) => lastOwnName(wish, named) ?? []))) {
      if (await hasGoneOn(this.#core, last, schedules)) left.add(last.id)
    }
    return left
  }
}

/** `adopted`: by retired name of this app, the declared name that takes over from it. Throws when the store does. */
export async function adoptNames(
  writes: GuardedWrites,
  adopted: ReadonlyMap<string, string>,
  record: AppRecord,
): Promise<Progress> {
  if (adopted.size === 0) return 'done'
  const decide: Decide = (name, state, at) =>
    state !== null && isOf(state, record.name) ? adopt(state, adopted.get(name)!, at) : null
  return await writes.change('rename', [...adopted.keys()], decide, record)
}
