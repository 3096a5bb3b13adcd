import type { AppRecord } from '../../model/app.ts'
import type { InstanceRecord } from '../../model/instance.ts'
import { findDeployment, longGone, markGone, markLost, registerProcess } from '../../policy/deploy/deployment.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import { registeredNames } from './declarations.ts'
import type { GuardedWrites } from './guarded-writes.ts'
import { isOfLiveInstance } from './report-refusals.ts'
import { type DeploymentWatch, hasVanished, ofApp } from './watch-deployments.ts'

/** Registers this process with its app. */
export class ProcessRegistrar {
  readonly #core: Core
  readonly #watch: DeploymentWatch
  readonly #writes: GuardedWrites
  readonly #declares: readonly string[]
  readonly #renames: readonly { readonly was: string; readonly id: string }[]
  /** The instance id that was last registered. */
  #registeredAs = ''

  constructor(core: Core, watch: DeploymentWatch, writes: GuardedWrites) {
    this.#core = core
    this.#watch = watch
    this.#writes = writes
    this.#declares = registeredNames(core)
    this.#renames = core.settings.declared.flatMap(({ id, was }) => (was === undefined ? [] : [{ was, id }]))
  }

  /**
   * Writes this process, and what it sees of its peers, into the app's record. `outdated`: another process was faster. `not-live`: this
   * instance was declared dead and joins again first. Throws when the store does.
   */
  async register(): Promise<AppRecord | 'outdated' | 'not-live'> {
    const core = this.#core
    const { app } = core.settings
    const { now, app: known } = await callStore(core, 'deploy (read)', () => core.parts.store.loadApp(app))
    const live = await this.#liveIds(known)
    if (!live.has(core.settings.deployment)) return 'not-live'
    let next = registerProcess(known, app, this.#describe(), { now, live }) ?? known!
    if (next.deployments.some(({ id, goneAt }) => goneAt === null && !live.has(id))) next = await this.#withGone(next)
    next = markLost(next, new Set([...this.#watch.lostIds(next), ...longGone(next, now)])) ?? next
    this.#watch.adopt(next)
    if (next === known) {
      this.#registeredAs = core.fleet.instance
      return known
    }
    const refused = next.refused.filter((one) => isOfLiveInstance(core, one))
    const wanted = { ...next, version: (known?.version ?? 0) + 1, refused }
    if (!(await this.#writes.save(wanted))) return 'outdated'
    this.#registeredAs = core.fleet.instance
    if (wanted.active !== known?.active) this.#reportActivated(wanted)
    return wanted
  }

  #describe() {
    const { deployment, isExplicit, holdDownMs, watch } = this.#core.settings
    return {
      id: deployment,
      explicit: isExplicit,
      declares: this.#declares,
      renames: this.#renames,
      // Once: two processes of one deployment that differ would take turns for ever.
      watch: this.#registeredAs === this.#core.fleet.instance ? undefined : watch,
      isSteady: this.#watch.livedMs() >= holdDownMs,
      isReturning: this.#isFirst(),
    }
  }

  /** Whether this instance has not registered yet, and no live peer of its deployment can have. */
  #isFirst(): boolean {
    const core = this.#core
    if (this.#registeredAs === core.fleet.instance) return false
    return !core.fleet.peers.some(
      (peer) =>
        peer.id !== core.fleet.instance &&
        peer.deployment === core.settings.deployment &&
        ofApp(peer, core.settings.app) &&
        !hasVanished(core, peer, core.time.estimate()),
    )
  }

  /**
   * Deployments with a live instance. If the record does not say that this one has any, this process has just joined, or it was declared
   * dead and does not know yet: then its last heartbeat may be older than a newer release, so a new list decides.
   */
  async #liveIds(known: AppRecord | null): Promise<ReadonlySet<string>> {
    const isRecordedLive = findDeployment(known, this.#core.settings.deployment)?.goneAt === null
    if (known === null || isRecordedLive) return new Set(this.#watch.liveIds())
    const { present } = await this.#listInstances()
    const isLive = present.some(({ id }) => id === this.#core.fleet.instance)
    return new Set(isLive ? present.map((peer) => peer.deployment) : [])
  }

  /** Judged by a new list of instances: the last heartbeat may be older than the record. */
  async #withGone(record: AppRecord): Promise<AppRecord> {
    const { now, own, present } = await this.#listInstances()
    const live = new Set([this.#core.settings.deployment, ...present.map((peer) => peer.deployment)])
    const diedEarly = new Set(
      record.deployments.filter(({ id, readyAt }) => this.#hasDiedEarly(own, id, readyAt)).map(({ id }) => id),
    )
    return markGone(record, { now, live, diedEarly }) ?? record
  }

  /** Instances of the app that declare something, and those of them that are live. */
  async #listInstances() {
    const core = this.#core
    const { app } = core.settings
    const { now, instances } = await callStore(core, 'deploy (look)', () => core.parts.store.listInstances({ app }))
    const own = instances.filter((peer) => peer.app === app && peer.jobs.length > 0)
    return { now, own, present: own.filter((peer) => ofApp(peer, app) && !hasVanished(core, peer, now)) }
  }

  #hasDiedEarly(instances: readonly InstanceRecord[], id: string, readyAt: number): boolean {
    const { app, holdDownMs } = this.#core.settings
    const ended = instances.filter((peer) => peer.deployment === id && !ofApp(peer, app))
    const last = ended.toSorted((a, b) => b.renewedAt - a.renewedAt)[0]
    return last?.state === 'dead' && last.renewedAt - readyAt < holdDownMs
  }

  #reportActivated(record: AppRecord): void {
    if (record.active === null) return
    const { number } = findDeployment(record, record.active)!
    const { app } = this.#core.settings
    this.#core.parts.emit({ type: 'deployment.activated', app, deployment: record.active, number })
  }
}
