import type { AppRecord } from '../../model/app.ts'
import type { FireRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { outrankedBy } from '../../policy/deploy/deployment.ts'
import { otherNamesOf } from '../../policy/deploy/job-names.ts'
import { listFires, ofFire } from '../../store/list-views.ts'
import type { Decide } from '../change-schedules.ts'
import { jobsElsewhere } from '../claim/buckets.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import { DeclarationPass, type Read, type ReadInstant } from './declaration-pass.ts'
import { declaredNames, isOf, type Wish, wishesUnder } from './declarations.ts'
import type { DeployState } from './deploy-state.ts'
import type { GuardedWrites, Progress } from './guarded-writes.ts'
import { continuingJobs, renamedJobs } from './other-names.ts'
import { Renamer } from './rename-jobs.ts'
import { NAME_TAKEN, type RefusalReporter } from './report-refusals.ts'
import { NameTaker } from './take-names.ts'
import type { DeploymentWatch } from './watch-deployments.ts'

interface Parts {
  readonly watch: DeploymentWatch
  readonly writes: GuardedWrites
  readonly refusals: RefusalReporter
}

const BATCH = 200
/** How often a process checks that the schedules that it declared are still there and its app's. */
const VERIFY_MS = 3_600_000
/** A declaration may be refused for a reason that passes: the schedule that has the name may be removed or retired. */
const PASSING: ReadonlySet<string> = new Set(['SCHEDULE_BEHIND', 'SCHEDULE_BUSY', NAME_TAKEN])

/** Declares the schedules of this process. */
export class Declarer {
  readonly #core: Core
  readonly #state: DeployState
  readonly #watch: DeploymentWatch
  readonly #writes: GuardedWrites
  readonly #refusals: RefusalReporter
  readonly #renamer: Renamer
  readonly #taker: NameTaker
  readonly #names: readonly string[]
  /** What the declarations that are written depend on. */
  #declaredUnder = ''
  /** When (monotonic) the schedules were last declared, or found to be as declared. */
  #verifiedAt: number
  readonly #atInstant = new Map<string, ReadInstant>()

  constructor(core: Core, state: DeployState, { watch, writes, refusals }: Parts) {
    this.#core = core
    this.#state = state
    this.#watch = watch
    this.#writes = writes
    this.#refusals = refusals
    this.#renamer = new Renamer(core, writes)
    this.#taker = new NameTaker(core, watch, writes)
    this.#names = declaredNames(core)
    this.#verifiedAt = core.parts.clock.mono()
  }

  /** When (monotonic) to check that the schedules are still as declared. */
  get verifyAt(): number {
    return this.#verifiedAt + VERIFY_MS
  }

  /** Declares what is not declared under this record yet. Throws when the store does. */
  async declare(record: AppRecord): Promise<Progress> {
    const core = this.#core
    const ranks = record.deployments.map(({ id, number, lost, onProbation }) => [id, number, lost, onProbation])
    const others = [...this.#watch.absentApps(), '', ...jobsElsewhere(core)]
    const under = JSON.stringify([core.fleet.instance, ranks, this.retiredOf(record), record.announced, others])
    if (under === this.#declaredUnder && (await this.#isAsDeclared())) return 'done'
    const renamed = await this.#renamer.rename(record, wishesUnder(core, record))
    if (renamed !== 'done') return renamed
    const progress = await this.#declareAll(record)
    this.#declaredUnder = progress === 'done' ? under : ''
    return progress
  }

  /** Which declared names the record lists as retired. */
  retiredOf({ retired }: AppRecord): string {
    return JSON.stringify(retired.filter((name) => this.#names.includes(name)))
  }

  /** The store may have lost the declarations: write them again. */
  forget(): void {
    this.#declaredUnder = ''
  }

  /** Schedules may be removed, or taken by another app, without a change of the app's record. */
  async #isAsDeclared(): Promise<boolean> {
    const { clock, store } = this.#core.parts
    if (clock.mono() - this.#verifiedAt < VERIFY_MS) return true
    this.#verifiedAt = clock.mono()
    const states = new Map<string, ScheduleState>()
    for (let start = 0; start < this.#names.length; start += BATCH) {
      const batch = this.#names.slice(start, start + BATCH)
      const { schedules } = await callStore(this.#core, 'deploy (verify)', () => store.load(batch))
      for (const state of schedules) states.set(state.id, state)
    }
    return this.#names.every((name) => {
      const state = states.get(name)
      return state !== undefined && isOf(state, this.#core.settings.app) !== this.#refusals.isRefused(name)
    })
  }

  async #declareAll(record: AppRecord): Promise<Progress> {
    const core = this.#core
    const { declared, deployment } = core.settings
    this.#verifiedAt = core.parts.clock.mono()
    const wishes = wishesUnder(core, record)
    const named = await this.#renamer.load(wishes)
    const pass = new DeclarationPass(core, { wishes, named, atInstant: this.#atInstant, watch: this.#watch })
    const continued = continuingJobs(wishes, named)
    const decide: Decide = (id, state, context) => pass.decide(id, state, context)
    for (let start = 0; start < declared.length; start += BATCH) {
      const ids = new Set(declared.slice(start, start + BATCH).map(({ id }) => id))
      await core.parts.sync('declare:sent')
      const written = await this.#writes.change('declare', [...ids], decide, record)
      if (written === 'outdated') return written
      pass.endBatch(written)
    }
    this.#atInstant.clear()
    for (const read of pass.unread) {
      const by = continued.get(read.id)
      const names = by === undefined ? [] : [by, ...otherNamesOf(record, by)]
      this.#atInstant.set(read.id, await this.#readInstant(read, wishes.get(read.id)!, names))
    }
    if (pass.unread.length > 0) return 'outdated'
    this.#refusals.declared(pass.refused)
    this.#refusals.reportIgnoredRenames(record, continued, named)
    const isWaiting = (id: string, old: string): boolean =>
      pass.isWaiting(id) && outrankedBy(record, deployment, old) === null
    // A process without the labels of a job has it under no name.
    const renamed = [...renamedJobs(wishes, named, isWaiting)].filter(([, { job }]) => core.parts.jobs.has(job))
    this.#state.renamedJobs = new Map(renamed)
    this.#state.foreignJobs = pass.foreign
    for (const [owner, wanted] of pass.taken) if (await this.#taker.take(owner, wanted, record)) return 'outdated'
    // Another app may leave an old name, or take it: no record of this app tells.
    const isShared = named.foreign.size > 0 || jobsElsewhere(core).length > 0
    const isPassing = pass.refused.some(({ code }) => PASSING.has(code))
    core.claimAlarm.ring()
    return isShared || isPassing || pass.isUnfinished ? 'unfinished' : 'done'
  }

  /**
   * Also what ran under other names of the job, and in the job that continues one of them. A fire is put on record together with a new version of its schedule, so the records read
   * here are those of the version in `read` or newer.
   */
  async #readInstant(
    read: Read,
    { definition: { trigger }, otherNames }: Wish,
    continuing: readonly string[],
  ): Promise<ReadInstant> {
    const { store } = this.#core.parts
    const records: FireRecord[] = []
    if (trigger?.kind !== 'at') return { ...read, records }
    for (const schedule of new Set([read.id, ...otherNames, ...continuing])) {
      const query = { ...ofFire({ schedule, dueAt: trigger.at, nonce: '' }), after: null, limit: BATCH }
      const { items } = await callStore(this.#core, 'declare (look)', () => listFires(store, query))
      records.push(...items)
    }
    return { ...read, records }
  }
}
