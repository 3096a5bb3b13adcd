import type { AppRecord } from '../../model/app.ts'
import type { InstanceRecord } from '../../model/instance.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { announceRetirements } from '../../policy/deploy/deployment.ts'
import { isYielded, mayReturn, takeSchedule } from '../../policy/deploy/yielding.ts'
import type { DefineWish } from '../../policy/operate/define.ts'
import type { Decide } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import type { Progress } from './retire-schedules.ts'
import { type FleetWatch, hasVanished, ofApp } from './watch-deployments.ts'

/** What this process declares under one name. */
export interface Wish extends DefineWish {
  readonly id: string
  readonly was: string | undefined
  readonly otherNames: readonly string[]
}

/** Takes names of schedules from other apps. */
export interface NameTaker {
  /** `wanted`: by the name of a schedule of the app `owner`, what this process declares. True: a record has changed. */
  take(owner: string, wanted: ReadonlyMap<string, Wish>, record: AppRecord): Promise<boolean>
}

interface Tools {
  readonly watch: FleetWatch
  readonly save: (record: AppRecord) => Promise<boolean>
  readonly change: (operation: string, ids: readonly string[], decide: Decide, record: AppRecord) => Promise<Progress>
}

/** What a process cannot see for itself counts after this long by the store's records. */
const LONG_GONE_MS = 3_600_000

export function nameTaker(core: Core, { watch, save, change }: Tools): NameTaker {
  const { app } = core.settings
  const { store } = core.parts

  /** Of these schedules, those that this process may take now; and the record of their app, read before its instances were listed. */
  const findYielded = async (owner: string, wanted: ReadonlyMap<string, Wish>) => {
    const { app: theirs } = await callStore(core, 'take over (read)', () => store.loadApp(owner))
    // With what is declared, to see which of that this app has.
    const ids = [...new Set([...wanted.keys(), ...[...wanted.values()].map(({ id }) => id)])]
    const loaded = await callStore(core, 'take over (read)', () => store.load(ids))
    const { now, instances } = await callStore(core, 'take over (look)', () => store.listInstances({ app: owner }))
    const all = instances.filter((peer) => peer.app === owner && peer.jobs.length > 0)
    const isThere = (peer: InstanceRecord): boolean => ofApp(peer, owner) && !hasVanished(core, peer, now)
    const ended = all.filter((peer) => !isThere(peer))
    // A process that only calls `runDue` is never up for long enough to see by itself that an app is absent.
    const isAbsent = watch.absentApps().has(owner) || ended.every(({ renewedAt }) => now - renewedAt >= LONG_GONE_MS)
    const about = {
      app: owner,
      isGone: isAbsent && !mayReturn(ended, now),
      instances: all.filter(isThere),
    }
    const context = core.context(loaded)
    const owned = new Set(loaded.schedules.filter((state) => isOf(state, app)).map(({ id }) => id))
    const isFree = (state: ScheduleState): boolean => {
      const wish = wanted.get(state.id)
      if (wish === undefined) return false
      // A rename that stopped half-way: no schedule has the new name, and the app that began the rename is gone.
      const isUnfinished = about.isGone && !loaded.schedules.some(({ id }) => id === wish.id)
      const owns = owned.has(wish.id) || isUnfinished
      return isYielded(state, wish.id, about, owns) && takeSchedule(state, wish.id, wish, context) !== null
    }
    return { theirs, free: loaded.schedules.filter(isFree).map(({ id }) => id) }
  }

  /**
   * The record of the owner guards the write: an instance of it that comes back joins before it reads the record, and changes the record
   * if names that it declares are announced there.
   */
  const take: NameTaker['take'] = async (owner, wanted, record) => {
    if ((await findYielded(owner, wanted)).free.length === 0) return false
    // The newest release of this app has to judge what the app gets.
    const own = { ...record, version: record.version + 1, tidiedFor: null }
    if (!(await save(own))) return true
    const { theirs, free } = await findYielded(owner, wanted)
    if (theirs === null || free.length === 0) return true
    const announced = announceRetirements(theirs, free)
    if (!(await save(announced))) return true
    const decide: Decide = (id, state, context) => {
      const wish = wanted.get(id)!
      return state !== null && isOf(state, owner) ? takeSchedule(state, wish.id, wish, context) : null
    }
    await core.parts.sync('declare:sent')
    await change('take over', free, decide, announced)
    return true
  }

  return { take }
}

function isOf({ source }: ScheduleState, app: string): boolean {
  return source.kind === 'code' && source.app === app
}
