import type { AppRecord } from '../../model/app.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Context, Refusal } from '../../policy/decision.ts'
import { hasSameTiming, isOldName, isRenamedTo } from '../../policy/deploy/continue-job.ts'
import { announceRetirements, findDeployment, newestExplicit, outrankedBy } from '../../policy/deploy/deployment.ts'
import { holderOf } from '../../policy/deploy/job-names.ts'
import { adopt, retire, settleHeld } from '../../policy/deploy/retire.ts'
import { define } from '../../policy/operate/define.ts'
import { markOf } from '../../policy/plan/series.ts'
import { isRefusal } from '../../policy/refusals.ts'
import type { Decide } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import type { DeployState, RenamedJob } from './deploy-state.ts'
import type { Progress } from './retire-schedules.ts'
import type { Wish } from './take-names.ts'

// A job that has several names: `was` links them, and one of them holds the job. See docs/architecture.md, "Renames".

/** Writes what a rename takes. */
export interface Renamer {
  /**
   * First the old name is retired and holds the job, then the new one takes over from it. A process that dies in between leaves a holder, and
   * the next process that declares any name of the job takes over from that.
   */
  rename(record: AppRecord, wishes: ReadonlyMap<string, Wish>): Promise<Progress>
  /** The schedules of this app by all names of the jobs that have several; by the names of this process, those of others, too. */
  load(wishes: ReadonlyMap<string, Wish>): Promise<Named>
}

interface Tools {
  readonly save: (record: AppRecord) => Promise<boolean>
  readonly change: (operation: string, ids: readonly string[], decide: Decide, record: AppRecord) => Promise<Progress>
}

export interface Named {
  readonly states: ReadonlyMap<string, ScheduleState>
  /** Schedules of other apps that have another name of a job. */
  readonly foreign: ReadonlyMap<string, ScheduleState>
  /** `null`: no job has several names. */
  readonly context: Context | null
  readonly several: readonly Wish[]
}

const BATCH = 200

export function renamer(core: Core, { save, change }: Tools): Renamer {
  const { app, deployment } = core.settings
  const { store } = core.parts

  const load: Renamer['load'] = async (wishes) => {
    const several = [...wishes.values()].filter(({ otherNames }) => otherNames.length > 0)
    const ids = several.flatMap(({ id, otherNames }) => [id, ...otherNames])
    const states = new Map<string, ScheduleState>()
    const foreign = new Map<string, ScheduleState>()
    let context: Context | null = null
    for (let start = 0; start < ids.length; start += BATCH) {
      const batch = ids.slice(start, start + BATCH)
      const loaded = await callStore(core, 'rename (read)', () => store.load(batch))
      context = core.context(loaded)
      for (const state of loaded.schedules) {
        if (isOf(state, app) || wishes.has(state.id)) states.set(state.id, state)
        else if (state.source.kind === 'code') foreign.set(state.id, state)
      }
    }
    return { states, foreign, context, several }
  }

  const rename: Renamer['rename'] = async (record, wishes) => {
    const { number, explicit } = findDeployment(record, deployment)!
    const named = await load(wishes)
    const { states, context, several } = named
    if (context === null) return 'done'
    // With ids, the newest deployment alone decides what is retired.
    const isDeciding = !explicit || newestExplicit(record)?.id === deployment
    const stops = new Map<string, { readonly renamedTo: string; readonly leavesDue: boolean }>()
    const held: string[] = []
    const adopted = new Map<string, string>()
    for (const wish of several) {
      const own = states.get(wish.id) ?? null
      // Only whether it is accepted matters here, which does not depend on what is on record.
      const accepted = define(own, wish.id, { ...wish, onRecord: [] }, context)
      // Otherwise no name would have the job.
      const isActive = own !== null && own.retiredAt === null
      const isRefused = accepted !== null && isRefusal(accepted)
      const isLeft = own === null || isOldName(own)
      if (isRefused || (isLeft && movedFrom(wish, named) !== undefined)) continue
      const [first, ...others] = isDeciding ? namesToStop(wish, isActive, states, record) : []
      // The new name has gone further, in another app: the old one goes on until it has planned what is due, or it would be lost.
      if (first !== undefined && own !== null && markOf(own) > markOf(first) && isBehind(first, context.now)) continue
      if (first !== undefined) {
        const leavesDue = !isActive && hasSameTiming(first.definition, wish.definition)
        stops.set(first.id, { renamedTo: wish.id, leavesDue })
        for (const { id } of others) stops.set(id, { renamedTo: wish.id, leavesDue: false })
        continue
      }
      const holder = isActive ? undefined : otherHolder(wish, own, states)
      if (holder !== undefined && !hasSameTiming(holder.definition, wish.definition)) held.push(holder.id)
      if (holder !== undefined && !isOldName(holder)) adopted.set(holder.id, wish.id)
    }
    if (held.length > 0) {
      const settled = await change(
        'rename',
        held,
        (_, state, at) => (state === null ? null : settleHeld(state, at)),
        record,
      )
      if (settled !== 'done') return settled
    }
    if (adopted.size > 0) {
      const done = await change(
        'rename',
        [...adopted.keys()],
        (name, state, at) => (state === null ? null : adopt(state, adopted.get(name)!, at)),
        record,
      )
      if (done !== 'done') return done
    }
    if (stops.size === 0) return 'done'
    const announced = announceRetirements(record, [...stops.keys()])
    if (!(await save(announced))) return 'outdated'
    const decide: Decide = (was, state, at) =>
      state === null ? null : retire(state, { app, cause: 'renamed', deployment, number, ...stops.get(was)! }, at)
    await change('rename', [...stops.keys()], decide, announced)
    // The record has another version now.
    return 'outdated'
  }

  /** The active schedules whose job goes on as `id`: the one that it continues first. */
  const namesToStop = (
    { id, was, otherNames }: Wish,
    isActive: boolean,
    states: ReadonlyMap<string, ScheduleState>,
    record: AppRecord,
  ): readonly ScheduleState[] => {
    const active = otherNames.flatMap((name) => states.get(name) ?? []).filter(({ retiredAt }) => retiredAt === null)
    // A job that is active under both names goes on under the declared one only if the code says so.
    const wanted = active.filter((state) => !isActive || state.id === was)
    // A newer deployment that declares either name decides about both.
    const isOutranked = [id, ...wanted.map((state) => state.id)].some(
      (name) => outrankedBy(record, deployment, name) !== null,
    )
    if (isOutranked) return []
    return wanted.toSorted((a, b) => Number(b.id === was) - Number(a.id === was) || b.updatedAt - a.updatedAt)
  }

  return { rename, load }
}

function isActive({ retiredAt }: ScheduleState): boolean {
  return retiredAt === null
}

function isBehind({ pause, nextAt }: ScheduleState, now: number): boolean {
  return pause !== null || (nextAt !== null && nextAt <= now)
}

/**
 * The schedule of another app that has another name of the job. If this app has the job under no name: it runs the job, was renamed to the
 * declared name, or is what the declared name was renamed to. If this app has only an old name of it: it is what that name was renamed to.
 */
export function movedFrom(wish: Wish, { states, foreign }: Named): ScheduleState | undefined {
  const holder = otherHolder(wish, null, states)
  if (holder !== undefined) return isOldName(holder) ? foreign.get(holder.retirements!.at(-1)!.renamedTo!) : undefined
  const own = states.get(wish.id)
  const isOfJob = (state: ScheduleState): boolean =>
    isActive(state) || isRenamedTo(state, wish.id) || (own !== undefined && isRenamedTo(own, state.id))
  return wish.otherNames.flatMap((name) => foreign.get(name) ?? []).find(isOfJob)
}

/** A job must not run here under a new name while another app runs it under the old one. */
export function refuseMoved(id: string, { id: was, source }: ScheduleState): Refusal {
  const app = source.kind === 'code' ? source.app : ''
  return {
    refused: 'SCHEDULE_NAME_TAKEN',
    message: `The job ${id} was ${was}, which is declared by the app ${app}.`,
    hint: `Rename the app in one release and the job in another; or leave out was, if it is another job.`,
  }
}

export function isOf({ source }: ScheduleState, app: string): boolean {
  return source.kind === 'code' && source.app === app
}

/** The schedule of another name that holds the job. */
export function otherHolder(
  { otherNames }: Wish,
  own: ScheduleState | null,
  states: ReadonlyMap<string, ScheduleState>,
): ScheduleState | undefined {
  const all = [...otherNames.flatMap((name) => states.get(name) ?? []), ...(own === null ? [] : [own])]
  const holder = holderOf(all)
  return holder === own ? undefined : holder
}

/** By each old name, the declared job that runs what still waits under it, and all that is due while the new name waits to be free. */
export function renamedJobs(
  wishes: ReadonlyMap<string, Wish>,
  { states, foreign }: Named,
  isWaiting: (id: string, old: string) => boolean,
): DeployState['renamedJobs'] {
  const jobs = new Map<string, RenamedJob>()
  for (const { id, otherNames } of wishes.values()) {
    for (const old of otherNames) {
      const state = states.get(old)
      const isLeft = state === undefined ? !foreign.has(old) : state.retiredAt !== null
      if (isLeft) jobs.set(old, { job: id, upTo: null, isFree: state === undefined })
      else if (state?.source.kind === 'code' && isWaiting(id, old))
        jobs.set(old, { job: id, upTo: state.source.number, isFree: false })
    }
  }
  return jobs
}
