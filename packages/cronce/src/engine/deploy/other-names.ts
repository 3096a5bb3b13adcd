import type { ScheduleState } from '../../model/schedule.ts'
import type { Context, Refusal } from '../../policy/decision.ts'
import { isOldName, isRenamedTo, namesBefore } from '../../policy/deploy/continue-job.ts'
import { holderOf } from '../../policy/deploy/job-names.ts'
import { isOf, type Wish } from './declarations.ts'
import type { DeployState, RenamedJob } from './deploy-state.ts'

// A job that has several names: `was` links them, and one of them holds the job. See docs/decisions/006-deployments.md, "Renames".

/** The schedules that exist under the names of jobs that have several. */
export interface Named {
  readonly app: string
  /** Those of this app; and those that have a name which this process declares, also if they are of another app. */
  readonly states: ReadonlyMap<string, ScheduleState>
  /** Schedules of other apps that have another name of a job. */
  readonly foreign: ReadonlyMap<string, ScheduleState>
  /** Old names whose job went on under a name that this app no longer has: no job continues them. */
  readonly left: ReadonlySet<string>
  /** `null`: no job has several names. */
  readonly context: Context | null
  /** What this process declares of jobs that have several names. */
  readonly several: readonly Wish[]
}

/** The schedule of another name that holds the job. */
export function otherHolder(wish: Wish, own: ScheduleState | null, { states, left }: Named): ScheduleState | undefined {
  const last = lastOtherName(wish, own, states)
  if (last === undefined || left.has(last.id)) return undefined
  return jobAfter(last, wish, states) === undefined ? last : undefined
}

/** The name of the other job that continues the last name of the declared one: what that name has not planned is not left to this job. */
export function otherJob(
  wish: Wish,
  own: ScheduleState | null,
  states: ReadonlyMap<string, ScheduleState>,
): string | undefined {
  const last = lastOtherName(wish, own, states)
  return last === undefined ? undefined : jobAfter(last, wish, states)
}

function lastOtherName(
  { otherNames }: Wish,
  own: ScheduleState | null,
  states: ReadonlyMap<string, ScheduleState>,
): ScheduleState | undefined {
  const all = [...otherNames.flatMap((name) => states.get(name) ?? []), ...(own === null ? [] : [own])]
  const last = holderOf(all)
  return last === own ? undefined : last
}

/** The name that an old name went on as, if that is not a name of the declared job. */
function jobAfter(
  old: ScheduleState,
  { id, otherNames }: Wish,
  states: ReadonlyMap<string, ScheduleState>,
): string | undefined {
  const end = lastName(old, states)
  if (end === old) return undefined
  const name = nextName(end) ?? end.id
  return name === id || otherNames.includes(name) ? undefined : name
}

/** A schedule of another app that has the declared job, or may have it. The declaration is refused because of it. */
export interface Elsewhere {
  readonly state: ScheduleState
  /** Whether this app takes it once it is free. The declared name then continues it as any other old name. */
  readonly isWanted: boolean
  readonly refusal: Refusal
}

/**
 * If this app has names of the job, it is where the last of them went on, in case another app has taken that name since. Otherwise it is
 * the name in `was`. Renames in another app are not followed.
 */
export function findElsewhere(wish: Wish, named: Named): Elsewhere | undefined {
  const { states, foreign } = named
  const last = lastOwnName(wish, named)
  if (last !== undefined) {
    const next = foreign.get(nextName(last) ?? '')
    const isJob = next !== undefined && wish.otherNames.includes(next.id) && !isOvertaken(last, next, named)
    return isJob ? { state: next, isWanted: true, refusal: refuseLost(wish, next) } : undefined
  }
  const state = foreign.get(wish.was ?? '')
  if (state === undefined) return undefined
  const next = nextName(state)
  // A rename that has stopped half-way: the job still has its old name.
  if (next === undefined || !(foreign.has(next) || states.has(next))) {
    return { state, isWanted: true, refusal: refuseWas(wish, state) }
  }
  // The declared name is wanted itself.
  if (next === wish.id) return undefined
  return { state, isWanted: false, refusal: refuseRenamed(wish, state, next) }
}

/**
 * Whether the rename of an old name stopped half-way, and another app or a client has made a schedule of the next name since: that is
 * another job, and the old name still has this one.
 */
export function isOvertaken(old: ScheduleState, next: ScheduleState, { left }: Named): boolean {
  if (!isRenamedTo(old, next.id) || namesBefore(next).includes(old.id) || left.has(old.id)) return false
  return next.createdAt > old.retirements!.at(-1)!.from
}

/** The schedule of this app that has the declared job, or had it last. */
export function lastOwnName({ id, otherNames }: Wish, { app, states }: Named): ScheduleState | undefined {
  const all = [id, ...otherNames].flatMap((name) => states.get(name) ?? [])
  return holderOf(all.filter((state) => isOf(state, app)))
}

/** The name that follows an old name of a job; `undefined`: the job still has this one. */
export function nextName(state: ScheduleState): string | undefined {
  return isOldName(state) ? state.retirements!.at(-1)!.renamedTo : undefined
}

/** This schedule, and those that its job went on as, in this order. */
function namesFrom(first: ScheduleState, states: ReadonlyMap<string, ScheduleState>): readonly ScheduleState[] {
  const passed = [first]
  for (;;) {
    const next = states.get(nextName(passed.at(-1)!) ?? '')
    if (next === undefined || passed.includes(next)) return passed
    passed.push(next)
  }
}

/** The schedule that the job went on as last. Of names that were renamed to each other, the one that was retired last. */
function lastName(first: ScheduleState, states: ReadonlyMap<string, ScheduleState>): ScheduleState {
  const passed = namesFrom(first, states)
  const last = passed.at(-1)!
  const again = passed.findIndex(({ id }) => id === nextName(last))
  return again < 0 ? last : holderOf(passed.slice(again))!
}

/** The schedule in `was` that the declared name does not continue: it was active before the code said `was`. */
export function notContinued({ id, was }: Wish, { app, states, foreign }: Named): ScheduleState | undefined {
  const own = states.get(id)
  const old = foreign.get(was ?? '') ?? states.get(was ?? '')
  if (own === undefined || own.retiredAt !== null || !isOf(own, app) || old === undefined) return undefined
  // An active one of this app is about to be retired.
  if (isOf(old, app) && old.retiredAt === null) return undefined
  const isContinued = namesFrom(old, states).includes(own) || namesBefore(own).includes(old.id)
  return isContinued ? undefined : old
}

/** By declared name, the name of another job that continues the old one instead. */
export function continuingJobs(wishes: ReadonlyMap<string, Wish>, { states }: Named): ReadonlyMap<string, string> {
  const jobs = new Map<string, string>()
  for (const wish of wishes.values()) {
    const by = wish.continuedBy ?? otherJob(wish, null, states)
    if (by !== undefined) jobs.set(wish.id, by)
  }
  return jobs
}

function refuseWas({ id }: Wish, { id: was, source }: ScheduleState): Refusal {
  const hint = `Move the job to this app as ${was} in one release, and rename it in the next; or leave out was, if it is another job.`
  return refuse(`The job ${id} was ${was}, which belongs to the app ${appOf(source)}.`, hint)
}

function refuseRenamed({ id }: Wish, { id: was, source }: ScheduleState, next: string): Refusal {
  const hint = `Write was: '${next}', the name that the job has now; or leave out was, if it is another job.`
  return refuse(`The job ${id} was ${was}, which the app ${appOf(source)} renamed to ${next}.`, hint)
}

function refuseLost({ id }: Wish, { id: name, source }: ScheduleState): Refusal {
  const app = appOf(source)
  const hint = `It goes on here once ${app} has retired ${name} or is gone. If it is another job, choose another name.`
  return refuse(`The job ${id} was renamed to ${name}, which belongs to the app ${app} now.`, hint)
}

function refuse(message: string, hint: string): Refusal {
  return { refused: 'SCHEDULE_NAME_TAKEN', message, hint }
}

function appOf(source: ScheduleState['source']): string {
  return source.kind === 'code' ? source.app : ''
}

/** By each old name, the declared job that runs what still waits under it, and all that is due while the new name waits to be free. */
export function renamedJobs(
  wishes: ReadonlyMap<string, Wish>,
  { states, foreign }: Named,
  isWaiting: (id: string, old: string) => boolean,
): DeployState['renamedJobs'] {
  const jobs = new Map<string, RenamedJob>()
  for (const wish of wishes.values()) {
    const { id, otherNames } = wish
    for (const old of otherNames) {
      const state = states.get(old)
      const theirs = foreign.get(old)
      // What another app has under the old name stays there; schedules that clients made for that name go with the job.
      const isLeft = state === undefined ? theirs === undefined || nextName(theirs) === id : state.retiredAt !== null
      const after = state === undefined ? undefined : jobAfter(state, wish, states)
      const job = after !== undefined && wishes.has(after) ? after : id
      if (isLeft) jobs.set(old, { job, upTo: null, isFree: state === undefined && theirs === undefined })
      else if (state?.source.kind === 'code' && isWaiting(id, old))
        jobs.set(old, { job: id, upTo: state.source.number, isFree: false })
    }
  }
  return jobs
}
