import type { AppRecord, Rename } from '../../model/app.ts'
import type { InstanceRecord } from '../../model/instance.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { announceRetirements, linkNames } from '../../policy/deploy/deployment.ts'
import { isYielded, mayReturn, type NextOwner, takeSchedule } from '../../policy/deploy/yielding.ts'
import type { Decide } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import { isOf, type Wish } from './declarations.ts'
import type { GuardedWrites } from './guarded-writes.ts'
import { loadNames } from './load-names.ts'
import { lastName, namesFrom, nextName } from './other-names.ts'
import { type DeploymentWatch, hasVanished, ofApp } from './watch-deployments.ts'

/** After this long an app counts as absent by the store's records, also if this process has not seen its absence itself. */
const LONG_GONE_MS = 3_600_000

interface Yielded {
  readonly theirs: AppRecord | null
  /** By name, the declared job that gets the schedule. */
  readonly free: ReadonlyMap<string, Wish>
  readonly linked: AppRecord
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
    const found = await this.#findYielded(owner, wanted, record)
    if (found.free.size === 0) return false
    // The newest release of this app has to judge what the app gets.
    const own = { ...found.linked, version: record.version + 1, tidiedFor: null }
    if (!(await this.#writes.save(own))) return true
    const { theirs, free } = await this.#findYielded(owner, wanted, own)
    if (theirs === null || free.size === 0) return true
    const announced = announceRetirements(theirs, [...free.keys()])
    if (!(await this.#writes.save(announced))) return true
    const decide: Decide = (id, state, context) => {
      const wish = free.get(id)!
      return state !== null && isOf(state, owner) ? takeSchedule(state, wish.id, wish, context) : null
    }
    await this.#core.parts.sync('declare:sent')
    await this.#writes.change('take over', [...free.keys()], decide, announced)
    return true
  }

  /**
   * Of these schedules, and those that the declared names were renamed to, those that this process may take now. `theirs`: the record of
   * their app, read before its instances were listed. `linked`: the record of this app, with the names that it does not know yet.
   */
  async #findYielded(owner: string, wanted: ReadonlyMap<string, Wish>, record: AppRecord): Promise<Yielded> {
    const core = this.#core
    const { store } = core.parts
    const { app: theirs } = await callStore(core, 'take over (read)', () => store.loadApp(owner))
    // With the declared names, to see which of them this app has.
    const names = [...wanted.keys(), ...[...wanted.values()].map(({ id }) => id)]
    const { schedules, context } = await loadNames(core, 'take over (read)', names)
    const { now, instances } = await callStore(core, 'take over (look)', () => store.listInstances({ app: owner }))
    const about = this.#about(owner, instances, now)
    const states = new Map(schedules.map((state) => [state.id, state]))
    const free = new Map<string, Wish>()
    let linked = record
    for (const [name, wish] of withLaterNames(wanted, states)) {
      const state = states.get(name)
      if (state === undefined || !isYielded(state, wish.id, about, this.#nextOwner(state, states))) continue
      const links = linksTo(wish, state)
      const known = linkNames(linked, links)
      const isLinked = links.length === 0 || known !== linked
      if (!isLinked || takeSchedule(state, wish.id, wish, context!) === null) continue
      free.set(name, wish)
      linked = known
    }
    return { theirs, free, linked }
  }

  #nextOwner(state: ScheduleState, states: ReadonlyMap<string, ScheduleState>): NextOwner {
    const next = states.get(nextName(state) ?? '')
    if (next !== undefined && isOf(next, this.#core.settings.app)) return 'taker'
    return lastName(state, states) === state ? 'none' : 'other'
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

/** Also the schedules that a declared name was renamed to: the job has to come along with its old name. */
function withLaterNames(
  wanted: ReadonlyMap<string, Wish>,
  states: ReadonlyMap<string, ScheduleState>,
): ReadonlyMap<string, Wish> {
  const later = [...wanted.values()].flatMap((wish) => {
    const declared = states.get(wish.id)
    const names = declared === undefined ? [] : namesFrom(declared, states)
    return names.map(({ id }) => [id, wish] as const)
  })
  return new Map([...later, ...wanted])
}

/** The names of the job in its schedule that no release of this app has declared. */
function linksTo({ id, otherNames }: Wish, state: ScheduleState): readonly Rename[] {
  const names = [state.id, nextName(state) ?? id]
  return names.filter((name) => name !== id && !otherNames.includes(name)).map((was) => ({ was, id }))
}
