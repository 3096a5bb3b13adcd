import type { ScheduleState } from '../../model/schedule.ts'
import type { Context, Refusal } from '../../policy/decision.ts'
import { isOldName, isRenamedTo } from '../../policy/deploy/continue-job.ts'
import { holderOf } from '../../policy/deploy/job-names.ts'
import type { Wish } from './declarations.ts'
import type { DeployState, RenamedJob } from './deploy-state.ts'

// A job that has several names: `was` links them, and one of them holds the job. See docs/architecture.md, "Renames".

/** The schedules that exist under the names of jobs that have several. */
export interface Named {
  /** Those of this app; and those that have a name which this process declares, also if they are of another app. */
  readonly states: ReadonlyMap<string, ScheduleState>
  /** Schedules of other apps that have another name of a job. */
  readonly foreign: ReadonlyMap<string, ScheduleState>
  /** `null`: no job has several names. */
  readonly context: Context | null
  /** What this process declares of jobs that have several names. */
  readonly several: readonly Wish[]
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

/**
 * The schedule of another app that has another name of the job. If this app has the job under no name: it runs the job, was renamed to the
 * declared name, or is what the declared name was renamed to. If this app has only an old name of it: it is what that name was renamed to.
 */
export function movedFrom(wish: Wish, { states, foreign }: Named): ScheduleState | undefined {
  const holder = otherHolder(wish, null, states)
  if (holder !== undefined) return isOldName(holder) ? foreign.get(holder.retirements!.at(-1)!.renamedTo!) : undefined
  const own = states.get(wish.id)
  const isOfJob = (state: ScheduleState): boolean =>
    state.retiredAt === null || isRenamedTo(state, wish.id) || (own !== undefined && isRenamedTo(own, state.id))
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
