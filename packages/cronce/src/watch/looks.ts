import { viewSchedule } from '../client/make-view.ts'
import { DETECT_JOB, isRunByCaller, RESERVED_PREFIX } from '../model/exclusive-jobs.ts'
import type { InstanceRecord } from '../model/instance.ts'
import type { Outcome } from '../model/outcome.ts'
import type { FireEnd, ListedRecord } from '../model/record.ts'
import type { Instant, ScheduleState } from '../model/schedule.ts'
import type { Store } from '../store/store.ts'
import { isDuplicate, otherWriter } from './rules/duplicate.ts'
import type { ScheduleEnd } from './rules/facts.ts'
import { LEAST_SAMPLES } from './rules/figures.ts'
import { type Judgement, judgeSchedule } from './rules/judge.ts'
import type { Thresholds } from './rules/thresholds.ts'

/** Schedules that one look reads: a bound for what it costs, however many there are. */
const PAGE = 500
const MOST_PAGES = 10
const ENDS = 1_000
/** Schedules of which the history is read in one call, and how much of it. */
const SUSPECTS = 100
const HISTORY = 50
/** Schedules that wait for a look at their history, and ends that are kept for it: bounds for the memory of the watching process. */
const MOST_SUSPECTS = 2_000
const MOST_ENDS_OF_ONE = 20
const LOOKED_BACK_MS = 15 * 60_000
/** What was missed is recorded when the fleet is back: a due time may be that old by then. */
const LONGEST_OUTAGE_MS = 31 * 86_400_000
/** What a store finds on record without reading what succeeded. */
const TROUBLE: readonly Outcome[] = ['failed', 'missed', 'abandoned', 'skipped']
/** Periods without a heartbeat after which its schedule is looked at. */
const SILENT_PERIODS = 2
const NO_BUCKETS = '0'.repeat(256)

export interface LookParts {
  readonly store: Pick<Store, 'load' | 'due' | 'listSchedules' | 'listRecords' | 'listEnds' | 'listLatest'>
  readonly now: () => Instant
  readonly instances: () => readonly InstanceRecord[]
  /** The schedule of the app's heartbeat, if it has one. */
  readonly heartbeat: string
  /** Whether a schedule is this app's to watch. */
  readonly isOwn: (state: ScheduleState) => boolean
  readonly thresholdsOf: (job: string) => Thresholds
  readonly judged: (judgement: Judgement, now: Instant) => void
  /** It does not exist any more, or another app watches it. */
  readonly gone: (schedule: string) => void
  /** Schedules that have a problem: whatever ends may resolve it. */
  readonly troubled: () => readonly string[]
}

/** Looks at the schedules of an app: each look is one call to the store that reads a bounded number of rows. */
export class ScheduleLooks {
  readonly #parts: LookParts
  /** Where the next page begins; `null`: at the first schedule. */
  #after: string | null = null
  /** Where the list of ends goes on; `null`: from now on. */
  #ends: string | null = null
  /** All schedules fit on one page, so every page shows what is overdue. */
  #isSmall = true
  #passes = 0
  /** Outcomes that are looked for on record, and since when: ends that no look at ends has shown. */
  #unlisted: { readonly since: Instant | null; readonly outcomes: readonly Outcome[] } = {
    since: null,
    outcomes: ['missed'],
  }
  #endsSince: Instant | null = null
  /** Schedules whose history is needed, with what ended. */
  readonly #suspects = new Map<string, ScheduleEnd[]>()
  /** Durations and lateness that the history has explained, by schedule: they need not be explained again. */
  readonly #explained = new Map<string, Times>()

  /** How often the app has its heartbeat, and when this instance last knew that it came; `null`: not looked at. */
  #heartbeat: { readonly everyMs: number; readonly at: Instant } | null = null

  constructor(parts: LookParts) {
    this.#parts = parts
  }

  /** Whether every schedule has been looked at. */
  get isComplete(): boolean {
    return this.#passes > 0
  }

  get hasSuspects(): boolean {
    return this.#suspects.size > 0
  }

  /** Schedules that wait for a look at their history, with what ended. */
  get suspects(): ReadonlyMap<string, readonly ScheduleEnd[]> {
    return this.#suspects
  }

  /** What to look at in turn while nothing is wrong: one of them a minute. */
  get rotation(): readonly (() => Promise<void>)[] {
    const all = [() => this.lookAtEnds(), () => this.lookAtPage()]
    for (const _ of this.#unlisted.outcomes) all.push(() => this.lookBack())
    if (!this.#isSmall) all.push(() => this.lookAtDue())
    return all
  }

  /** One page; and the next ones, too, as long as something is wrong: what has one cause is one message. */
  async lookAtPage(): Promise<void> {
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const query = { after: this.#after, limit: PAGE }
      const { items, next, now } = await this.#parts.store.listSchedules(query)
      if (this.#after === null) this.#isSmall = next === null
      this.#after = next
      if (next === null) this.#passes++
      if (!this.#judge(items, now) || next === null) return
    }
  }

  /** Jobs that no live instance has any more: their schedules need not wait for their page. */
  async lookAtJob(job: string): Promise<void> {
    const query = { job, state: 'active', after: null, limit: PAGE } as const
    const { items, now } = await this.#parts.store.listSchedules(query)
    this.#judge(items, now)
  }

  /** What has been due for longest. A fleet that is well answers with nothing. */
  async lookAtDue(): Promise<void> {
    const names = new Set(
      this.#parts.instances().flatMap(({ jobs }) => jobs.filter((job) => !job.startsWith(RESERVED_PREFIX))),
    )
    const jobs = [...names].map((job) => ({ job, buckets: NO_BUCKETS }))
    if (jobs.length === 0) return
    const { schedules, now } = await this.#parts.store.due({ jobs, patienceMs: 60_000, limit: PAGE })
    this.#judge(schedules, now)
  }

  /** What ended since the last time. */
  async lookAtEnds(): Promise<void> {
    const { items, next, complete, now } = await this.#parts.store.listEnds({ after: this.#ends, limit: ENDS })
    this.#ends = next
    // Of successes that are left out, `slow` and `late` see later ones.
    if (!complete) this.#unlisted = { since: this.#endsSince, outcomes: TROUBLE }
    this.#endsSince = now
    const troubled = new Set(this.#parts.troubled())
    for (const item of items) {
      if (item.schedule === this.#parts.heartbeat) this.#hear(item)
      if (troubled.has(item.schedule) || this.#isTelling(item)) this.suspect(item.schedule, item)
    }
    if (this.#isHeartbeatWanted(now)) this.suspect(this.#parts.heartbeat)
  }

  #hear({ ending, endedAt }: ListedRecord): void {
    if (this.#heartbeat !== null && ending?.outcome === 'succeeded' && endedAt !== null)
      this.#heartbeat = { ...this.#heartbeat, at: endedAt }
  }

  /** Whether its schedule has to be read, since the ends do not show that it came. */
  #isHeartbeatWanted(now: Instant): boolean {
    const { heartbeat, instances } = this.#parts
    if (this.#heartbeat === null) return instances().some(({ jobs }) => jobs.includes(heartbeat))
    return Math.abs(now - this.#heartbeat.at) > SILENT_PERIODS * this.#heartbeat.everyMs
  }

  /**
   * What was missed before the first look at ends: when a whole fleet comes back, it is recorded before anything watches. And what went
   * wrong among more ends than one look reads.
   */
  async lookBack(): Promise<void> {
    const { since: known, outcomes } = this.#unlisted
    const [outcome, ...others] = outcomes
    if (outcome === undefined) return
    const since = known ?? this.#parts.now() - LOOKED_BACK_MS
    const query = { view: 'fires', outcome, from: since - LONGEST_OUTAGE_MS, after: null, limit: SUSPECTS } as const
    const { items } = await this.#parts.store.listRecords(query)
    this.#unlisted = { since: known, outcomes: others }
    for (const item of items) if (item.endedAt !== null && item.endedAt >= since) this.suspect(item.schedule, item)
  }

  /** Whether an end may be a problem of `slow`, `late`, `missed` or `failing`. */
  #isTelling(item: ListedRecord): boolean {
    if (isDuplicate(item)) return true
    if (item.schedule === this.#parts.heartbeat) return otherWriter(item) !== null
    if (item.job.startsWith(RESERVED_PREFIX) || item.ending === null) return false
    if (item.ending.outcome !== 'succeeded' || item.run === null) return true
    const usual = this.#explained.get(item.schedule) ?? NOTHING_EXPLAINED
    const { slow, late } = this.#parts.thresholdsOf(item.job)
    const { durationMs, latenessMs } = timesOf(item)
    const isLong = slow !== false && durationMs >= Math.max(slow.atLeastMs, usual.durationMs)
    return isLong || (late !== false && latenessMs >= Math.max(late.atLeastMs, usual.latenessMs))
  }

  /** Have a schedule looked at closely. */
  suspect(schedule: string, end?: ListedRecord): void {
    const known = this.#suspects.get(schedule)
    // What fails goes on to be found by the pages, and what is slow or late by its next end.
    if (known === undefined && this.#suspects.size >= MOST_SUSPECTS) return
    const ends = known ?? []
    if (end !== undefined && !ends.some((one) => isSameEnd(one, end))) ends.push(withoutContents(end, this.#parts))
    if (ends.length > MOST_ENDS_OF_ONE) ends.shift()
    this.#suspects.set(schedule, ends)
  }

  /** Reads the state and the history of those. */
  async lookAtSuspects(): Promise<void> {
    const batch = [...this.#suspects].slice(0, SUSPECTS)
    if (batch.length === 0) return
    const ids = batch.map(([id]) => id)
    const { store } = this.#parts
    const [{ schedules, now }, { fires }] = await Promise.all([
      store.load(ids),
      store.listLatest({ schedules: ids, limit: HISTORY }),
    ])
    for (const [id, ends] of batch) {
      this.#suspects.delete(id)
      const state = schedules.find((each) => each.id === id)
      if (state === undefined) this.#parts.gone(id)
      else
        this.#judgeClosely(
          state,
          ends,
          fires.filter(({ schedule }) => schedule === id),
          now,
        )
    }
  }

  #judgeClosely(state: ScheduleState, ends: readonly ScheduleEnd[], history: readonly FireEnd[], now: Instant): void {
    if (!this.#isWatched(state)) {
      this.#parts.gone(state.id)
      return
    }
    const { trigger } = state.definition
    if (state.id === this.#parts.heartbeat && trigger?.kind === 'every')
      this.#heartbeat = { everyMs: trigger.everyMs, at: now }
    const judgement = this.#judgementOf(state, now, ends, history)
    const isUsual = !judgement.problems.some(({ rule }) => rule === 'slow' || rule === 'late')
    if (isUsual && history.length > LEAST_SAMPLES) this.#explain(state, ends)
    this.#parts.judged(judgement, now)
  }

  #explain({ id }: ScheduleState, ends: readonly ScheduleEnd[]): void {
    if (ends.length === 0) return
    const times = ends.map(timesOf)
    const known = this.#explained.get(id) ?? NOTHING_EXPLAINED
    if (this.#explained.size >= MOST_EXPLAINED) this.#explained.clear()
    this.#explained.set(id, {
      durationMs: Math.max(known.durationMs, ...times.map(({ durationMs }) => durationMs * SLACK)),
      latenessMs: Math.max(known.latenessMs, ...times.map(({ latenessMs }) => latenessMs * SLACK)),
    })
  }

  /** Whether anything is wrong. */
  #judge(states: readonly ScheduleState[], now: Instant): boolean {
    let isWrong = false
    for (const state of states) {
      if (!this.#isWatched(state)) continue
      const judgement = this.#judgementOf(state, now, null, null)
      this.#parts.judged(judgement, now)
      if (judgement.isSuspect) this.suspect(state.id)
      isWrong ||= judgement.problems.length > 0
    }
    return isWrong
  }

  #judgementOf(
    state: ScheduleState,
    now: Instant,
    ends: readonly ScheduleEnd[] | null,
    history: readonly FireEnd[] | null,
  ): Judgement {
    const facts = { now, schedule: viewSchedule(state), ends, history, instances: this.#parts.instances() }
    return judgeSchedule(facts, this.#parts.thresholdsOf(state.definition.job))
  }

  #isWatched(state: ScheduleState): boolean {
    const { job } = state.definition
    const isWork = !job.startsWith(RESERVED_PREFIX) && !isRunByCaller(job)
    return (isWork || job === DETECT_JOB || state.id === this.#parts.heartbeat) && this.#parts.isOwn(state)
  }
}

/** Then all are forgotten: each costs a look at its history once more. */
const MOST_EXPLAINED = 10_000
/** What is a little longer than what was explained is explained, too. */
const SLACK = 1.5

function isSameEnd(one: ScheduleEnd, other: ScheduleEnd): boolean {
  return one.dueAt === other.dueAt && one.nonce === other.nonce && one.endedAt === other.endedAt
}

/** Inputs, results and errors may be large: only those that a rule reads are kept. */
function withoutContents(end: ListedRecord, { heartbeat }: Pick<LookParts, 'heartbeat'>): ScheduleEnd {
  const { schedule, job, kind, dueAt, nonce, attempt, readyAt, endedAt, ending, run, range } = end
  const input = job === DETECT_JOB ? end.input : null
  const { startedAt = 0, cause, result = null } = run ?? {}
  const kept = run === null ? null : { startedAt, cause, result: schedule === heartbeat ? result : null }
  return { job, kind, dueAt, nonce, attempt, readyAt, endedAt, ending, input, run: kept, range }
}

interface Times {
  readonly durationMs: number
  readonly latenessMs: number
}

const NOTHING_EXPLAINED: Times = { durationMs: 0, latenessMs: 0 }

function timesOf({ run, endedAt, readyAt }: ScheduleEnd): Times {
  if (run === null || endedAt === null) return NOTHING_EXPLAINED
  return { durationMs: endedAt - run.startedAt, latenessMs: run.startedAt - readyAt }
}
