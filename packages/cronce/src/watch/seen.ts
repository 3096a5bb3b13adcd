import type { AlertSubject, Problem, Rule } from '../model/alert.ts'
import type { Instant } from '../model/schedule.ts'
import { isFleetRule, type Judgement } from './rules/judge.ts'

/** What lasts is measured by the monotonic clock: the store's clock may be set. */
interface SeenProblem extends AlertSubject {
  /** When it counts as a problem. */
  readonly countsAt: number
  /** Since when nothing is wrong any more. */
  fineSince?: number
}

/** Subjects of one rule that are remembered: a bound for the memory of the watching process. */
const MOST_SUBJECTS_SEEN = 10_000

/** The problems that the watching instance sees, with when it first saw them. */
export class Seen {
  readonly #overMs: number
  readonly #mono: () => number
  readonly #rules = new Map<Rule, Map<string, SeenProblem>>()

  /** A problem is over once nothing was wrong for this long: one that comes and goes is one alert. */
  constructor(overMs: number, mono: () => number) {
    this.#overMs = overMs
    this.#mono = mono
  }

  /** What an earlier watcher had found. */
  restore(rule: Rule, subjects: readonly AlertSubject[]): void {
    for (const subject of subjects) this.#of(rule).set(subject.name, { ...subject, countsAt: Number.NEGATIVE_INFINITY })
  }

  judged({ problems, fine }: Pick<Judgement, 'problems' | 'fine'>, now: Instant): void {
    for (const { rule, subject } of fine) this.#fine(rule, subject)
    for (const problem of problems) this.#add(problem, now)
  }

  /** All problems of the fleet: what is not among them is over. */
  fleetJudged(problems: readonly Problem[], now: Instant): void {
    for (const [rule, subjects] of this.#rules) {
      if (!isFleetRule(rule)) continue
      for (const name of subjects.keys()) {
        if (!problems.some((problem) => problem.rule === rule && problem.subject === name)) this.#fine(rule, name)
      }
    }
    for (const problem of problems) this.#add(problem, now)
  }

  /** The schedule is gone, and its problems with it. */
  gone(schedule: string): void {
    for (const [rule, subjects] of this.#rules) if (!isFleetRule(rule)) subjects.delete(schedule)
  }

  /** Those that have lasted long enough and are not over, in the order in which they were noticed. */
  problems(): ReadonlyMap<Rule, readonly AlertSubject[]> {
    const now = this.#mono()
    for (const subjects of this.#rules.values()) {
      for (const [name, { fineSince }] of subjects) {
        if (fineSince !== undefined && now - fineSince >= this.#overMs) subjects.delete(name)
      }
    }
    const found = [...this.#rules].map(([rule, subjects]) => {
      const due = [...subjects.values()].filter(({ countsAt }) => countsAt <= now)
      return [rule, due.map(({ name, text, sinceAt }) => ({ name, text, sinceAt }))] as const
    })
    return new Map(found.filter(([, subjects]) => subjects.length > 0))
  }

  /** Schedules that have a problem, or are about to. */
  schedules(): readonly string[] {
    const names = [...this.#rules].flatMap(([rule, subjects]) => (isFleetRule(rule) ? [] : [...subjects.keys()]))
    return [...new Set(names)]
  }

  get isEmpty(): boolean {
    return [...this.#rules.values()].every(({ size }) => size === 0)
  }

  #add({ rule, subject, text, holdMs = 0 }: Problem, now: Instant): void {
    const subjects = this.#of(rule)
    const known = subjects.get(subject)
    if (known === undefined && subjects.size >= MOST_SUBJECTS_SEEN) return
    const sinceAt = known?.sinceAt ?? now
    const countsAt = known?.countsAt ?? this.#mono() + holdMs
    subjects.set(subject, { name: subject, text, sinceAt, countsAt })
  }

  #fine(rule: Rule, subject: string): void {
    const known = this.#of(rule).get(subject)
    // What has not lasted long enough to count leaves no trace.
    if (known !== undefined && known.countsAt > this.#mono()) this.#of(rule).delete(subject)
    else if (known !== undefined) known.fineSince ??= this.#mono()
  }

  #of(rule: Rule): Map<string, SeenProblem> {
    const subjects = this.#rules.get(rule) ?? new Map<string, SeenProblem>()
    this.#rules.set(rule, subjects)
    return subjects
  }
}
