import type { ScheduleState } from '../../model/schedule.ts'
import type { Context, Refusal } from '../../policy/decision.ts'
import { isOldName } from '../../policy/deploy/continue-job.ts'
import { holderOf } from '../../policy/deploy/job-names.ts'
import type { Wish } from './declarations.ts'
import type { DeployState, RenamedJob } from './deploy-state.ts'

// A job that has several names: `was` links them, and one of them holds the job. See docs/decisions/006-deployments.md, "Renames".

/** The schedules that exist under the names of jobs that have several. */
export interface Named {
  /** Those of this app; and those that have a name which this process declares, also if they are of another app. */
  readonly states: ReadonlyMap<string, ScheduleState>
  /** Schedules of other apps that have another name of a job, or that such a name was renamed to. */
  readonly foreign: ReadonlyMap<string, ScheduleState>
  /** `null`: no job has several names. */
  readonly context: Context | null
  /** What this process declares of jobs that have several names. */
  readonly several: readonly Wish[]
}

/** The schedule of another name that holds the job. */
export function otherHolder(
  wish: Wish,
  own: ScheduleState | null,
  states: ReadonlyMap<string, ScheduleState>,
): ScheduleState | undefined {
  const last = lastOtherName(wish, own, states)
  return last === undefined || jobAfter(last, wish, states) !== undefined ? undefined : last
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

/** The name that an old name went on as, if that is no name of the declared job. */
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

/**
 * The schedule of another app that holds the job. If this app has names of the job, it is where the last of them was renamed to; otherwise
 * another name of the job, or what that was renamed to. If the other app has dropped it, this app takes that name before it declares its own.
 */
export function movedFrom(wish: Wish, { states, foreign }: Named): ScheduleState | undefined {
  // The declared name may be the one that the job left last.
  const last = holderOf([wish.id, ...wish.otherNames].flatMap((name) => states.get(name) ?? []))
  if (last !== undefined) {
    const end = lastName(last, foreign)
    return end === last ? undefined : end
  }
  const ends = wish.otherNames.flatMap((name) => foreign.get(name) ?? []).map((state) => lastName(state, foreign))
  // An old name at the end: the other app is renaming the job, unless the job has come here.
  const isBetween = (end: ScheduleState): boolean => isOldName(end) && !states.has(nextName(end)!)
  return ends.find((end) => end.retiredAt === null || isBetween(end)) ?? ends.find((end) => !isOldName(end))
}

/** The name that follows an old name of a job; `undefined`: the job still has this one. */
export function nextName(state: ScheduleState): string | undefined {
  return isOldName(state) ? state.retirements!.at(-1)!.renamedTo : undefined
}

/** This schedule, and those that its job went on as, in this order. */
export function namesFrom(first: ScheduleState, states: ReadonlyMap<string, ScheduleState>): readonly ScheduleState[] {
  const passed = [first]
  for (;;) {
    const next = states.get(nextName(passed.at(-1)!) ?? '')
    if (next === undefined || passed.includes(next)) return passed
    passed.push(next)
  }
}

/** The schedule that the job went on as last. Of names that were renamed to each other, the one that was retired last. */
export function lastName(first: ScheduleState, states: ReadonlyMap<string, ScheduleState>): ScheduleState {
  const passed = namesFrom(first, states)
  const last = passed.at(-1)!
  const again = passed.findIndex(({ id }) => id === nextName(last))
  return again < 0 ? last : holderOf(passed.slice(again))!
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

/** A job must not run here under one name while another app runs it under another. */
export function refuseMoved({ id, otherNames }: Wish, { id: name, source }: ScheduleState): Refusal {
  const app = source.kind === 'code' ? source.app : ''
  return {
    refused: 'SCHEDULE_NAME_TAKEN',
    message: `The job ${id} ${otherNames.includes(name) ? 'was' : 'goes on as'} ${name}, which is declared by the app ${app}.`,
    hint: `Rename the app in one release and the job in another; or leave out was, if it is another job.`,
  }
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
      const isLeft = state === undefined ? !foreign.has(old) : state.retiredAt !== null
      const after = state === undefined ? undefined : jobAfter(state, wish, states)
      const job = after !== undefined && wishes.has(after) ? after : id
      if (isLeft) jobs.set(old, { job, upTo: null, isFree: state === undefined })
      else if (state?.source.kind === 'code' && isWaiting(id, old))
        jobs.set(old, { job: id, upTo: state.source.number, isFree: false })
    }
  }
  return jobs
}
