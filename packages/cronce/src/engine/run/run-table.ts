import type { Instant } from '../../model/schedule.ts'
import type { StartedRun } from '../../policy/decision.ts'

/** A run that this instance has started and not released. */
export interface LocalRun {
  readonly started: StartedRun
  readonly instance: string
  /** Not a run of a job: it takes no slot of the jobs. */
  readonly exclusive: ExclusiveKind | null
  /** Start time, by the monotonic clock. */
  readonly begunAt: number
  /**
   * When its handler was called, by the store's clock as far as this instance knows it; for a run that was claimed ahead, at most
   * its planned start.
   */
  readonly calledAt: Instant | undefined
  /** Its handler only waits: nothing is lost by handing it back. */
  readonly waits: boolean
  readonly signal: AbortSignal
  /** Why it must end. The first reason counts. */
  readonly abort: (reason: AbortReason, detail: string | null) => void
  /** It has ended for the fleet, whatever its handler does: it ignored its signal, or was overtaken. */
  readonly giveUp: () => void
  /** Its handler has returned, thrown, or been given up. */
  readonly ended: boolean
  /** About to be settled, with or without its transaction: it must not be handed back. */
  settling: boolean
  /** Steps that it has started and not ended, by name; created with the first step. */
  doing: Set<string> | null
  /** Its transaction, once it has one: resolves when the outcome is known. */
  transaction: Promise<void> | null
  /** That transaction has settled the fire. */
  committed: boolean
  /** How long to park the run, if its work continues elsewhere. */
  parkMs: number | null
}

export type AbortReason = 'timeout' | 'cancelled-by-operator' | 'replaced' | 'stopping' | 'lease-lost' | 'fenced'

/** `section`: a caller's exclusive section, which ends by itself. `term`: of a leader, which ends when its instance stops. */
export type ExclusiveKind = 'section' | 'term'

/** The runs of this instance. */
export interface RunTable {
  add(run: LocalRun): void
  remove(run: LocalRun): void
  find(schedule: string, token: string): LocalRun | undefined
  all(): readonly LocalRun[]
  readonly size: number
  /** Number of runs of jobs. */
  readonly working: number
  /** Resolves when there are no runs. */
  empty(): Promise<void>
}

export function runTable(): RunTable {
  /** Few schedules have more than one at a time. */
  const bySchedule = new Map<string, readonly LocalRun[]>()
  let size = 0
  let exclusive = 0
  let waiting: (() => void)[] = []
  return {
    add(run) {
      const { schedule } = run.started.record
      const others = bySchedule.get(schedule)
      bySchedule.set(schedule, others === undefined ? [run] : [...others, run])
      size++
      if (run.exclusive !== null) exclusive++
    },
    remove(run) {
      const { schedule } = run.started.record
      const runs = bySchedule.get(schedule)
      if (runs === undefined || !runs.includes(run)) return
      if (runs.length === 1) bySchedule.delete(schedule)
      else
        bySchedule.set(
          schedule,
          runs.filter((other) => other !== run),
        )
      size--
      if (run.exclusive !== null) exclusive--
      if (size > 0) return
      for (const resolve of waiting) resolve()
      waiting = []
    },
    find: (schedule, token) => bySchedule.get(schedule)?.find(({ started }) => started.record.token === token),
    all: () => [...bySchedule.values()].flat(),
    get size() {
      return size
    },
    get working() {
      return size - exclusive
    },
    empty: () => (size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}

/** The fields of a run that an event contains. */
export function aboutRun({ started }: LocalRun) {
  const { schedule, job, dueAt, nonce, token, attempt, instance } = started.record
  return { schedule, job, dueAt, nonce, token, attempt, instance }
}
