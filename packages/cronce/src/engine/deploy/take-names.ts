import type { AppRecord } from '../../model/app.ts'
import type { InstanceRecord } from '../../model/instance.ts'
import type { Instant } from '../../model/schedule.ts'
import { isRenamedTo } from '../../policy/deploy/continue-job.ts'
import { announceRetirements } from '../../policy/deploy/deployment.ts'
import { isYielded, mayReturn, takeSchedule, undoRename } from '../../policy/deploy/yielding.ts'
import type { Decide } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import { isOf, type Wish } from './declarations.ts'
import { isHalfRenamed } from './gone-on.ts'
import type { GuardedWrites } from './guarded-writes.ts'
import { loadNames } from './load-names.ts'
import { adoptNames } from './rename-jobs.ts'
import { type DeploymentWatch, hasVanished, ofApp } from './watch-deployments.ts'

/** After this long an app counts as absent by the store's records, also if this process has not seen its absence itself. */
const LONG_GONE_MS = 3_600_000

interface Yielded {
  readonly theirs: AppRecord | null
  /** By name, the declared job that gets the schedule. */
  readonly free: ReadonlyMap<string, Wish>
  /** Of these, the names whose rename to another name than the declared one stopped half-way. */
  readonly half: ReadonlySet<string>
}

/** Takes names of schedules from other apps. */
export class NameTaker {
  readonly #core: Core
  readonly #watch: DeploymentWatch
  readonly #writes: GuardedWrites

  constructor(core: Core, watch: DeploymentWatch, writes: GuardedWrites) {
    this.#core = core
    this.#watch = watch
    this.#writes = writes
  }

  /**
   * `wanted`: by the name of a schedule of the app `owner`, what this process declares. True: a record has changed. Throws when the store
   * does.
   *
   * The record of the owner guards the write: an instance of it that comes back joins before it reads the record, and changes the record
   * if names that it declares are announced there.
   */
  async take(owner: string, wanted: ReadonlyMap<string, Wish>, record: AppRecord): Promise<boolean> {
    if ((await this.#findYielded(owner, wanted)).free.size === 0) return false
    // The newest release of this app has to judge what the app gets.
    const own = { ...record, version: record.version + 1, tidiedFor: null }
    if (!(await this.#writes.save(own))) return true
    const { theirs, free, half } = await this.#findYielded(owner, wanted)
    if (theirs === null || free.size === 0) return true
    // The name that the taken one continues is no longer free for another app.
    if ((await adoptNames(this.#writes, continuedBy(free), own)) !== 'done') return true
    const announced = announceRetirements(theirs, [...free.keys()])
    if (!(await this.#writes.save(announced))) return true
    const decide: Decide = (id, state, context) => {
      const wish = free.get(id)!
      if (state === null || !isOf(state, owner)) return null
      return takeSchedule(half.has(id) ? undoRename(state) : state, wish.id, wish, context)
    }
    await this.#core.parts.sync('declare:sent')
    await this.#writes.change('take over', [...free.keys()], decide, announced)
    return true
  }

  /** Of these schedules, those that this process may take now. `theirs`: the record of their app, read before its instances were listed. */
  async #findYielded(owner: string, wanted: ReadonlyMap<string, Wish>): Promise<Yielded> {
    const core = this.#core
    const { store } = core.parts
    const { app: theirs } = await callStore(core, 'take over (read)', () => store.loadApp(owner))
    const { schedules, context } = await loadNames(core, 'take over (read)', [...wanted.keys()])
    const { now, instances } = await callStore(core, 'take over (look)', () => store.listInstances({ app: owner }))
    const about = this.#about(owner, instances, now)
    const free = new Map<string, Wish>()
    const half = new Set<string>()
    for (const state of schedules) {
      const wish = wanted.get(state.id)
      if (wish === undefined || !isYielded(state, about)) continue
      if (takeSchedule(state, wish.id, wish, context!) === null) continue
      free.set(state.id, wish)
      // A rename to the declared name is finished instead.
      if (!isRenamedTo(state, wish.id) && (await isHalfRenamed(core, state, schedules))) half.add(state.id)
    }
    return { theirs, free, half }
  }

  /** Whether the app is gone for good, and its instances that are not. */
  #about(owner: string, instances: readonly InstanceRecord[], now: Instant) {
    const core = this.#core
    const all = instances.filter((peer) => peer.app === owner && peer.jobs.length > 0)
    const isThere = (peer: InstanceRecord): boolean => ofApp(peer, owner) && !hasVanished(core, peer, now)
    const ended = all.filter((peer) => !isThere(peer))
    // A process that only calls `runDue` is never up for long enough to see by itself that an app is absent.
    const isAbsent =
      this.#watch.absentApps().has(owner) || ended.every(({ renewedAt }) => now - renewedAt >= LONG_GONE_MS)
    return {
      app: owner,
      isGone: isAbsent && !mayReturn(ended, now),
      instances: all.filter(isThere),
    }
  }
}

/** By retired name of this app, the declared name that takes over from it as soon as it is taken. */
function continuedBy(free: ReadonlyMap<string, Wish>): ReadonlyMap<string, string> {
  const continued = [...free].flatMap(([name, { id, holder }]): [string, string][] =>
    name === id && holder !== undefined && holder.retiredAt !== null ? [[holder.id, id]] : [],
  )
  return new Map(continued)
}
