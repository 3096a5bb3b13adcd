import type { AppRecord } from '../../model/app.ts'
import { counts } from '../../policy/deploy/deployment.ts'
import { jobsElsewhere } from '../claim/buckets.ts'
import type { Core } from '../core.ts'
import { Declarer } from './declare-schedules.ts'
import type { DeployState } from './deploy-state.ts'
import { GuardedWrites } from './guarded-writes.ts'
import { ProcessRegistrar } from './register-process.ts'
import { RefusalReporter } from './report-refusals.ts'
import { Retirer } from './retire-schedules.ts'
import { DeploymentWatch } from './watch-deployments.ts'

/** Registers this process with its app, declares its schedules, and retires what left the code. See docs/decisions/006-deployments.md, "Deployments". */
export interface Deployer {
  /** Registers, declares and retires what is due. Throws when the store does. */
  keep(): Promise<void>
  /** Call this after every heartbeat: notes which deployments are live. */
  observe(): void
  /** Whether something changed since the last `keep`, or a wait is over. */
  isWanted(): boolean
  /** Time until a wait is over. */
  restMs(): number
  /** The store may have lost what was written: do all of it again. */
  forget(): void
}

const TRIES = 10
/** First pause before another try to write what could not be written; doubles up to the longest. */
const RETRY_MS = 5_000
const RETRY_LONGEST_MS = 60_000
const LONGEST_MS = 3_600_000

/** What the last `keep` saw. */
interface Kept {
  readonly record: AppRecord
  readonly liveKey: string
  /** Until the next try to write what is not written yet; `null`: all is. */
  readonly retryMs: number | null
}

/** A process without jobs declares nothing, registers nothing and retires nothing. */
const IDLE: Deployer = {
  keep: async () => {},
  observe: () => {},
  isWanted: () => false,
  restMs: () => LONGEST_MS,
  forget: () => {},
}

export function deployer(core: Core, state: DeployState): Deployer {
  // Peers know by its jobs that a process declares something: one that has none here, for lack of their labels, leaves it to them.
  if (core.settings.declared.length === 0 || core.parts.jobs.size === 0) return IDLE
  return new AppDeployer(core, state)
}

/** The deployer of a process that has jobs. */
class AppDeployer implements Deployer {
  readonly #core: Core
  readonly #state: DeployState
  readonly #watch: DeploymentWatch
  readonly #registrar: ProcessRegistrar
  readonly #declarer: Declarer
  readonly #refusals: RefusalReporter
  readonly #retirer: Retirer
  #kept: Kept | null = null
  #keptAt = Number.NEGATIVE_INFINITY

  constructor(core: Core, state: DeployState) {
    const watch = new DeploymentWatch(core)
    const writes = new GuardedWrites(core)
    const refusals = new RefusalReporter(core, writes)
    this.#core = core
    this.#state = state
    this.#watch = watch
    this.#refusals = refusals
    this.#registrar = new ProcessRegistrar(core, watch, writes)
    this.#declarer = new Declarer(core, state, { watch, writes, refusals })
    this.#retirer = new Retirer(core, watch, writes)
  }

  async keep(): Promise<void> {
    const retryMs = Math.min(RETRY_LONGEST_MS, 2 * (this.#kept?.retryMs ?? RETRY_MS / 2))
    // If it fails, it is still to be done.
    this.#kept = null
    this.#keptAt = this.#core.parts.clock.mono()
    for (let tries = 0; tries < TRIES; tries++) {
      const seen = this.#liveKey()
      // Before the first answer of the store: a wait that ends after this needs another `keep`.
      this.#watch.act()
      const record = await this.#registrar.register()
      if (record === 'not-live') return
      if (record === 'outdated') continue
      const declaring = await this.#declarer.declare(record)
      if (declaring === 'outdated') continue
      const reported = await this.#refusals.report(record)
      if (reported === null) continue
      await this.#refusals.reportRivals()
      const retired = await this.#retirer.pass(reported)
      if (retired.progress === 'outdated') continue
      // This process retired its own declarations: it handles that like every other process.
      if (this.#declarer.retiredOf(retired.record) !== this.#declarer.retiredOf(record)) continue
      this.#watch.adopt(retired.record)
      this.#state.numbers = numbersOf(retired.record)
      const isDone = declaring === 'done' && retired.progress === 'done'
      this.#kept = { record: retired.record, liveKey: seen, retryMs: isDone ? null : retryMs }
      return
    }
    // Other processes change the record at the same time: the next round finds it done.
  }

  observe(): void {
    this.#watch.observe()
    if (this.#kept !== null) this.#refusals.findRivals()
  }

  isWanted(): boolean {
    const kept = this.#kept
    return (
      kept === null ||
      kept.record.version !== this.#core.fleet.chores.appVersion ||
      kept.liveKey !== this.#liveKey() ||
      this.#watch.hasChanged() ||
      this.#refusals.hasRivals ||
      this.restMs() === 0
    )
  }

  restMs(): number {
    const waitMs = Math.min(LONGEST_MS, this.#kept?.retryMs ?? LONGEST_MS)
    const now = this.#core.parts.clock.mono()
    return Math.max(0, Math.min(this.#keptAt + waitMs - now, this.#declarer.verifyAt - now, this.#watch.untilNextMs()))
  }

  forget(): void {
    this.#kept = null
    this.#declarer.forget()
    this.#watch.restart()
  }

  #liveKey(): string {
    return [this.#core.fleet.instance, ...this.#watch.liveIds(), '', ...jobsElsewhere(this.#core)].join()
  }
}

/** By id, of the deployments that count: their instances claim first what they define. */
function numbersOf(record: AppRecord): ReadonlyMap<string, number> {
  return new Map(record.deployments.filter(counts).map(({ id, number }) => [id, number]))
}
