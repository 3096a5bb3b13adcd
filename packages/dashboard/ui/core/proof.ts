import { get, part } from './api.ts'
import { formatDuration } from './format.ts'
import type { FireView, Items, Page, Run, ScheduleView, StepView, StoreInfo } from './types.ts'
import type { FireVerdict } from './verdict.ts'

/** All that is on record about one fire. */
export interface Proof {
  readonly readAt: number
  /** `null`: it was removed, and its records are left. */
  readonly schedule: ScheduleView | null
  readonly fire: FireView
  /** The earliest first. */
  readonly runs: readonly Run[]
  readonly steps: readonly StepView[]
  readonly verdict: FireVerdict
}

const RUNS_MOST = 200

/** In this order: the rule first, then the runs, then the fire, so that each run has its fire and each fire its rule. */
export async function readProof(
  name: string,
  dueAt: string,
  nonce: string | null,
  signal: AbortSignal,
): Promise<Proof> {
  const { now: readAt } = await get<StoreInfo>('store', {}, signal)
  const schedule = await findSchedule(name, signal)
  const path = `fires/${part(name)}/${part(dueAt)}`
  const query = { schedule: name, dueAt, nonce, limit: RUNS_MOST }
  const [runs, steps, checker] = await Promise.all([
    get<Page<Run>>('runs', query, signal),
    get<Items<StepView>>(`${path}/steps`, { nonce }, signal).catch(() => ({ items: [] })),
    import('./verdict.ts'),
  ])
  const fire = await get<FireView>(path, { nonce }, signal)
  const earliestFirst = runs.items.toReversed()
  const verdict = checker.judgeFire({ readAt, schedule, fire, runs: earliestFirst })
  return { readAt, schedule, fire, runs: earliestFirst, steps: steps.items, verdict }
}

/** Listed, not asked for by name: a schedule that is gone is no error here. */
async function findSchedule(name: string, signal: AbortSignal): Promise<ScheduleView | null> {
  const { items } = await get<Page<ScheduleView>>('schedules', { prefix: name, limit: 1 }, signal)
  return items[0]?.name === name ? items[0] : null
}

/** A moment in the life of a fire. */
export interface Moment {
  readonly at: number
  readonly title: string
  readonly detail: string
  readonly tone: string
}

/** What happened, in order, as far as it is on record. */
export function momentsOf({ fire, runs, steps }: Pick<Proof, 'fire' | 'runs' | 'steps'>): readonly Moment[] {
  const moments: Moment[] = [
    { at: fire.dueAt, title: 'Due', detail: kindWords(fire), tone: '' },
    {
      at: fire.plannedAt,
      title: 'Planned',
      detail: 'Recorded in the store under its own key: there is no second one.',
      tone: '',
    },
  ]
  for (const [index, run] of runs.entries()) moments.push(...momentsOfRun(run, runs[index - 1]))
  for (const { step, begunAt, endedAt, state } of steps) {
    const took = endedAt === null ? 'its end is not on record' : `${state} after ${formatDuration(endedAt - begunAt)}`
    moments.push({ at: begunAt, title: `Step ${step}`, detail: took, tone: state === 'failed' ? 'failed' : '' })
  }
  if (fire.endedAt !== null) {
    const why = fire.detail ?? REASONS[fire.reason ?? ''] ?? ''
    moments.push({ at: fire.endedAt, title: `Ended: ${fire.state}`, detail: why, tone: fire.state })
  }
  return moments.toSorted((one, other) => one.at - other.at)
}

function momentsOfRun(run: Run, before: Run | undefined): readonly Moment[] {
  const { attempt, instance, token, startedAt, endedAt, state, reason, detail } = run
  const isTakeover = before !== undefined && before.instance !== instance && before.state === 'abandoned'
  const title = isTakeover ? `Taken over: attempt ${attempt}` : `Claimed: attempt ${attempt}`
  const fenced = before === undefined ? '' : ` Writes with the older token ${before.token} are rejected from now on.`
  const where = instance === '' ? 'It has no instance any more' : `By ${instance}`
  const started = { at: startedAt, title, detail: `${where}, with fencing token ${token}.${fenced}`, tone: 'open' }
  if (endedAt === null) return [started]
  const why = [reason, detail].filter((one) => one !== null && one !== 'completed').join(': ')
  return [started, { at: endedAt, title: `Attempt ${attempt} ${state}`, detail: why, tone: state }]
}

function kindWords({ kind, asked, range }: FireView): string {
  const by = asked?.author == null ? '' : ` by ${asked.author}`
  const note = asked?.note == null ? '' : `: ${asked.note}`
  const many = range === null ? '' : ` This record stands for ${range.count} due times.`
  const words = {
    scheduled: 'A due time of the schedule.',
    backfill: `Backfilled${by}${note}.`,
    manual: `Triggered${by}${note}.`,
  }
  return words[kind] + many
}

/** Why a fire ended as it did, also when it did not run. */
const REASONS: Readonly<Record<string, string>> = {
  overlap: 'An earlier fire of the schedule was still active, and its policy is to skip.',
  'queue-full': 'The queue behind the active fire was full.',
  paused: 'The schedule was paused when it was due.',
  'skipped-by-operator': 'An operator skipped it.',
  calendar: 'Its calendar closes the day.',
  late: 'It was noticed after its grace, and the policy is not to run late fires.',
  superseded: 'It was noticed late, and a newer fire stands in for it.',
  'too-late': 'It was noticed later than the misfire window reaches back.',
  'while-retired': 'It was due while no code declared the schedule.',
  crashed: 'Its instance died, and the job must not start twice.',
  'crash-budget': 'Its instances died too often.',
  'cancelled-by-operator': 'An operator cancelled it.',
  replaced: 'A newer fire took its place.',
  timeout: 'It was still running when its time was up.',
}
