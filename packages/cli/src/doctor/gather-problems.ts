import type { Client, FireEnd, FireView, InstanceView, RunView, ScheduleView } from 'cronce'
import {
  HEARTBEAT_PREFIX,
  isDuplicate,
  isInternal,
  judgeSchedule,
  type Problem,
  type ScheduleEnd,
  type Thresholds,
} from 'cronce/internal'

/** How far back ends are looked at, and how many of each kind. */
const LOOKED_BACK_MS = 26 * 3_600_000
const MOST_RUNS = 500
const MOST_FIRES = 500
/** Schedules whose history is read, and how much of it: as the watchdog does. */
const MOST_SUSPECTS = 500
const AT_ONCE = 100
const HISTORY = 50
/** Names of `app.detect()` that were executed twice lately. */
const MOST_DETECTED = 50

/** What the rules of the watchdog are told of each schedule. */
interface Around {
  readonly now: number
  readonly instances: readonly InstanceView[]
  readonly thresholdsOf: (schedule: Pick<ScheduleView, 'app' | 'job'>) => Thresholds
}

/** What the rules of the watchdog say about schedules: those of the watchdog, on what a client can read. */
export class Problems {
  readonly #client: Client
  readonly #around: Around
  readonly #ends: Map<string, readonly ScheduleEnd[]>
  readonly #found = new Map<string, readonly Problem[]>()
  readonly #suspects = new Map<string, ScheduleView>()

  private constructor(client: Client, around: Around, ends: Map<string, readonly ScheduleEnd[]>) {
    this.#client = client
    this.#around = around
    this.#ends = ends
  }

  static async gather(client: Client, around: Around): Promise<Problems> {
    return new Problems(client, around, await latestEnds(client, around.now - LOOKED_BACK_MS))
  }

  /** Judges what needs no history, and remembers what does. */
  look(view: ScheduleView): void {
    const { problems, isSuspect } = this.#judge(view, this.#unanswered(view), null)
    if (problems.length > 0) this.#found.set(view.name, problems)
    if (isSuspect && this.#suspects.size < MOST_SUSPECTS) this.#suspects.set(view.name, view)
  }

  /** Reads the history of those that need it, and what the library keeps for itself: executions and heartbeats. */
  async lookClosely(): Promise<void> {
    const views = [...this.#suspects.values(), ...(await this.#detected()), ...(await this.#heartbeats())]
    for (let at = 0; at < views.length; at += AT_ONCE) {
      const some = views.slice(at, at + AT_ONCE)
      const history = await this.#client.fires.latest({ schedules: some.map(({ name }) => name), limit: HISTORY })
      for (const view of some) {
        const own = history.filter(({ schedule }) => schedule === view.name)
        const ends = this.#unanswered(view, isLatestTwice(own))
        this.#found.set(view.name, this.#judge(view, ends, own).problems)
      }
    }
  }

  of(schedule: string): readonly Problem[] {
    return this.#found.get(schedule) ?? []
  }

  /** Of schedules that no list of users has: executions that `app.detect()` counts, and heartbeats. */
  get internal(): readonly Problem[] {
    return [...this.#found].flatMap(([name, problems]) => (isInternal(name) ? problems : []))
  }

  #judge(
    schedule: ScheduleView,
    ends: readonly ScheduleEnd[],
    history: Parameters<typeof judgeSchedule>[0]['history'],
  ): ReturnType<typeof judgeSchedule> {
    const { now, instances, thresholdsOf } = this.#around
    return judgeSchedule({ now, schedule, ends, history, instances }, thresholdsOf(schedule))
  }

  /** Its latest ends, without what a later success has made good. */
  #unanswered({ name, last }: ScheduleView, isTwice = true): readonly ScheduleEnd[] {
    const succeededAt = last.succeededDueAt ?? Number.NEGATIVE_INFINITY
    return (this.#ends.get(name) ?? []).filter((end) =>
      isDuplicate(end) ? isTwice : end.run !== null || end.dueAt > succeededAt,
    )
  }

  #detected(): Promise<readonly ScheduleView[]> {
    const names = [...this.#ends].flatMap(([name, ends]) => (ends.some(isDuplicate) ? [name] : []))
    return this.#find(names.slice(0, MOST_DETECTED))
  }

  async #heartbeats(): Promise<readonly ScheduleView[]> {
    const names = new Set(this.#around.instances.map(({ app }) => HEARTBEAT_PREFIX + app))
    const views = await this.#find([...names].slice(0, MOST_DETECTED))
    for (const { name } of views) {
      const { items } = await this.#client.runs.list({ schedule: name, outcome: 'succeeded', limit: 1 })
      this.#ends.set(name, items.map(endOfRun))
    }
    return views
  }

  async #find(names: readonly string[]): Promise<readonly ScheduleView[]> {
    const views: ScheduleView[] = []
    for (const name of names) {
      const view = await this.#client.schedules.find(name)
      if (view !== null) views.push(view)
    }
    return views
  }
}

/** Two processes that execute in the same millisecond leave two latest records, in any order. */
function isLatestTwice(history: readonly FireEnd[]): boolean {
  return history.some(({ dueAt, reason }) => dueAt === history[0]!.dueAt && reason === 'overlap')
}

/** What ended lately, by schedule: the latest run of each, and what did not run. */
async function latestEnds(client: Client, from: number): Promise<Map<string, readonly ScheduleEnd[]>> {
  const [runs, missed, skipped] = await Promise.all([
    client.runs.list({ outcome: 'succeeded', from, limit: MOST_RUNS }),
    client.fires.list({ outcome: 'missed', from, limit: MOST_FIRES }),
    client.fires.list({ outcome: 'skipped', from, limit: MOST_FIRES }),
  ])
  const ends = new Map<string, readonly ScheduleEnd[]>()
  const add = (schedule: string, end: ScheduleEnd): void => {
    ends.set(schedule, [...(ends.get(schedule) ?? []), end])
  }
  for (const run of runs.items) if (!ends.has(run.schedule)) add(run.schedule, endOfRun(run))
  for (const fire of [...missed.items, ...skipped.items]) add(fire.schedule, endOfFire(fire))
  return ends
}

function endOfRun(run: RunView): ScheduleEnd {
  const { job, dueAt, nonce, attempt, startedAt, latenessMs, cause, endedAt, result } = run
  const ending = { outcome: 'succeeded', reason: 'completed' } as const
  const about = { job, dueAt, nonce, attempt, endedAt, ending, input: null, range: null } as const
  // What was triggered has a nonce, and a backfill its cause.
  const kind = nonce === '' ? 'scheduled' : 'manual'
  return { ...about, kind, readyAt: startedAt - latenessMs, run: { startedAt, cause: cause ?? undefined, result } }
}

function endOfFire({ job, kind, dueAt, nonce, attempt, readyAt, endedAt, state, reason, input, range }: FireView) {
  const ending = state === 'open' || reason === null ? null : { outcome: state, reason }
  return { job, kind, dueAt, nonce, attempt, readyAt, endedAt, ending, input, range, run: null } as ScheduleEnd
}
