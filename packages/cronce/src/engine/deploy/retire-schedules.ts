import type { AppRecord, DeploymentRecord } from '../../model/app.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { isOldName } from '../../policy/deploy/continue-job.ts'
import {
  announceRetirements,
  counts,
  markTidied,
  newestExplicit,
  withoutHosts,
} from '../../policy/deploy/deployment.ts'
import { holderOf, otherNamesOf } from '../../policy/deploy/job-names.ts'
import { dropOldName, type RetireWish, retire } from '../../policy/deploy/retire.ts'
import { judgeRetirement, type Observation, type Verdict } from '../../policy/deploy/retirement.ts'
import { endOverdue } from '../../policy/plan/advance.ts'
import type { Page, ScheduleQuery } from '../../store/store.ts'
import type { Decide } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import { isHalfRenamed } from './gone-on.ts'
import type { GuardedWrites, Progress } from './guarded-writes.ts'
import { loadNames } from './load-names.ts'
import { nextName } from './other-names.ts'
import { type DeploymentWatch, ofApp } from './watch-deployments.ts'

const BATCH = 200
/** How many leases an instance waits for an elder one, at most. */
const TURNS = 5
/** How often to look for frozen fires of retired schedules. */
const FROZEN_MS = 3_600_000

interface Passed {
  readonly progress: Progress
  readonly record: AppRecord
}

/** Retires what left the code of the app. */
export class Retirer {
  readonly #core: Core
  readonly #watch: DeploymentWatch
  readonly #writes: GuardedWrites
  /** Since when (monotonic) a pass is needed. */
  #neededSince: number | null = null
  #lookedForFrozenAt: number

  constructor(core: Core, watch: DeploymentWatch, writes: GuardedWrites) {
    this.#core = core
    this.#watch = watch
    this.#writes = writes
    this.#lookedForFrozenAt = core.parts.clock.mono()
  }

  /** One pass over the app's schedules, if there may be something to retire and it is this instance's turn. */
  async pass(record: AppRecord): Promise<Passed> {
    if (this.#isFrozenDue(record)) await this.#endFrozen()
    if (!this.#isNeeded(record)) {
      this.#neededSince = null
      return { progress: 'done', record }
    }
    if (!this.#isOurTurn()) return { progress: 'unfinished', record }
    const all = await this.#listSchedules()
    const active = all.filter(({ retiredAt }) => retiredAt === null)
    const states = [...active, ...(await this.#findHalfRenamed(record, all))]
    const verdicts = await this.#judge(record, states)
    const gone = new Map(
      [...verdicts].flatMap(([id, verdict]) => (verdict.kind === 'retire' ? [[id, verdict] as const] : [])),
    )
    // Names of hosts whose schedule an earlier pass has retired, or an operator has removed.
    const left = new Set([...this.#watch.hostless()].filter((id) => !verdicts.has(id)))
    if (gone.size === 0 && left.size === 0) return { progress: 'done', record: await this.#tidied(record, verdicts) }
    const known = withoutHosts(record, left)
    const announced =
      gone.size === 0 ? { ...known, version: record.version + 1 } : announceRetirements(known, [...gone.keys()])
    if (!(await this.#save('retire (announce)', announced))) return { progress: 'outdated', record }
    let isDone = true
    await this.#core.parts.sync('retire:sent')
    const decide: Decide = (id, state, context) => {
      const { cause, by } = gone.get(id)!
      const wish: RetireWish = { app: this.#core.settings.app, cause, ...by }
      const decision = state === null ? null : (retire(state, wish, context) ?? dropOldName(state, wish, context))
      // More is due than one step settles.
      if (decision !== null && decision.change.state?.retiredAt === null) isDone = false
      return decision
    }
    const progress = await this.#writes.change('retire', [...gone.keys()], decide, announced)
    if (progress === 'outdated') return { progress, record: announced }
    if (progress !== 'done' || !isDone) return { progress: 'unfinished', record: announced }
    return { progress: 'done', record: await this.#tidied(announced, verdicts) }
  }

  /** Only an instance that has lived for the hold-down retires; an operator's choice is followed at once. */
  #isNeeded(record: AppRecord): boolean {
    const { deployment, holdDownMs } = this.#core.settings
    const newest = newestExplicit(record)
    const isChosen = newest !== null && record.activated === newest.id && newest.id === deployment
    if (isChosen && record.tidiedFor !== newest.number) return true
    if (this.#watch.livedMs() < holdDownMs) return false
    if (record.deployments.some(({ lost, cleared }) => lost && !cleared)) return true
    if (this.#watch.hostless().size > 0) return true
    return newest !== null && this.#watch.steadyIds().has(newest.id) && record.tidiedFor !== newest.number
  }

  /** The eldest instance retires; if it does not, its peers step in one after the other. */
  #isOurTurn(): boolean {
    const { clock } = this.#core.parts
    this.#neededSince ??= clock.mono()
    const waitMs = Math.min(this.#watch.rank(), TURNS) * this.#core.settings.leaseMs
    return clock.mono() - this.#neededSince >= waitMs
  }

  async #judge(record: AppRecord, states: readonly ScheduleState[]): Promise<ReadonlyMap<string, Verdict>> {
    const { store } = this.#core.parts
    const { app, deployment } = this.#core.settings
    const watch = this.#watch
    // Listed after the record and the schedules were read: a process that declares a schedule has joined before.
    const { now, instances } = await callStore(this.#core, 'retire (look)', () => store.listInstances({ app }))
    const seen: Observation = {
      ...{ now, instances: instances.filter((peer) => ofApp(peer, app)) },
      ...{ steady: watch.steadyIds(), absent: watch.absentIds(record), outwaited: watch.outwaited() },
      hostless: watch.hostless(),
      active: new Set(states.filter(({ retiredAt }) => retiredAt === null).map(({ id }) => id)),
    }
    // The instances of the deployment that an operator chose follow at once: they know which jobs go on under another name.
    const judged = record.activated === deployment ? record : { ...record, activated: null }
    return new Map(states.map((state) => [state.id, judgeRetirement(judged, { ...state, retiredAt: null }, seen)]))
  }

  /** Old names whose rename stopped half-way: if no release goes on with it, their jobs have left the code. */
  async #findHalfRenamed(record: AppRecord, all: readonly ScheduleState[]): Promise<readonly ScheduleState[]> {
    const byName = new Map(all.map((state) => [state.id, state]))
    const isHolder = (state: ScheduleState): boolean =>
      holderOf([state, ...otherNamesOf(record, state.id).flatMap((name) => byName.get(name) ?? [])]) === state
    const found = all.filter((state) => isOldName(state) && !byName.has(nextName(state)!) && isHolder(state))
    if (found.length === 0) return found
    const { schedules } = await loadNames(
      this.#core,
      'retire (look)',
      found.flatMap((state) => nextName(state) ?? []),
    )
    const half: ScheduleState[] = []
    for (const state of found) if (await isHalfRenamed(this.#core, state, schedules)) half.push(state)
    return half
  }

  /** Notes in the record what needs no further pass. If another process changes the record first, that process notes it. */
  async #tidied(record: AppRecord, verdicts: ReadonlyMap<string, Verdict>): Promise<AppRecord> {
    const left = [...verdicts].filter(([, { kind }]) => kind === 'wait' || kind === 'contested').map(([id]) => id)
    // A lost deployment may be live, on probation: what it declares counts until it is gone.
    const absent = this.#watch.absentIds(record)
    const isOver = ({ id, lost, declares }: DeploymentRecord): boolean =>
      lost && absent.has(id) && !declares.some((schedule) => left.includes(schedule))
    const cleared = record.deployments.filter(isOver)
    const newest = newestExplicit(record)
    const isTidy = newest !== null && counts(newest) && left.length === 0
    const next = markTidied(record, isTidy ? newest.number : record.tidiedFor, new Set(cleared.map(({ id }) => id)))
    if (next === null) return record
    return (await this.#save('retire (tidy)', next)) ? next : record
  }

  #save(operation: string, record: AppRecord): Promise<boolean> {
    const { store } = this.#core.parts
    return callStore(this.#core, operation, () => store.saveApp(record))
  }

  async #listSchedules(): Promise<ScheduleState[]> {
    const { store } = this.#core.parts
    const { app } = this.#core.settings
    const states: ScheduleState[] = []
    for (let after: string | null = null; ; ) {
      const query: ScheduleQuery = { app, after, limit: BATCH }
      const page: Page<ScheduleState> = await callStore(this.#core, 'retire (list)', () => store.listSchedules(query))
      states.push(...page.items)
      if (page.next === null) return states
      after = page.next
    }
  }

  #isFrozenDue(record: AppRecord): boolean {
    if (record.retired.length === 0 || this.#watch.rank() > 0) return false
    return this.#core.parts.clock.mono() - this.#lookedForFrozenAt >= FROZEN_MS
  }

  /** No instance has the job of a retired schedule, so none claims it, and its frozen fires would stay forever. */
  async #endFrozen(): Promise<void> {
    const { clock, store } = this.#core.parts
    this.#lookedForFrozenAt = clock.mono()
    const isFrozen = ({ retiredAt, open }: ScheduleState): boolean => retiredAt !== null && open.length > 0
    const ids = (await this.#listSchedules()).filter(isFrozen).map(({ id }) => id)
    const decide: Decide = (_, state, context) => (state === null ? null : endOverdue(state, context))
    const { app } = this.#core.settings
    const { app: record } = await callStore(this.#core, 'retire (read)', () => store.loadApp(app))
    if (record !== null) await this.#writes.change('retire (end)', ids, decide, record)
  }
}
