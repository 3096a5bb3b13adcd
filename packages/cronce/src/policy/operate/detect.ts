import type { Execution } from '../../model/event.ts'
import { DETECT_JOB } from '../../model/exclusive-jobs.ts'
import { ending } from '../../model/outcome.ts'
import { DEFAULT_POLICY } from '../../model/policy.ts'
import type { FireRecord } from '../../model/record.ts'
import type { Definition, Instant, ScheduleState } from '../../model/schedule.ts'
import type { Context, Decision } from '../decision.ts'
import { begin, finish, set } from '../draft.ts'
import { endUnrun } from '../fires.ts'

const DAY_MS = 86_400_000

/** An execution that begins now, of work that cronce does not schedule. */
export interface NewExecution extends Omit<Execution, 'at'> {
  /** Made at random. */
  readonly id: string
  readonly windowMs: number
  readonly isRefused: boolean
}

export interface Detected {
  readonly decision: Decision
  readonly at: Instant
  /** When the execution began that this one duplicates. `null`: it is the only one of its window. */
  readonly firstAt: Instant | null
}

/** Of the schedule that has the executions of one name on record. Those that were duplicated are kept for longer. */
export function detectDefinition(): Definition {
  return {
    job: DETECT_JOB,
    trigger: null,
    input: null,
    policy: {
      misfire: { ...DEFAULT_POLICY.misfire, windowMs: 60_000 },
      retention: { keepMs: 30 * DAY_MS, keepMsBy: { succeeded: 2 * DAY_MS }, count: 1_000_000_000 },
    },
    start: null,
    end: null,
    limit: null,
    tenant: null,
  }
}

/**
 * Records an execution. The window begins with an execution that is not a duplicate, so it does not depend on how due times and hours
 * fall: two that straddle a full minute are duplicates, too.
 */
export function detectExecution(state: ScheduleState, execution: NewExecution, context: Context): Detected {
  const { id, windowMs, isRefused, ...by } = execution
  const { now: at } = context
  const previous = state.last.dueAt
  // The clock may have been set back.
  const firstAt = previous !== null && Math.abs(at - previous) < windowMs ? previous : null
  const draft = begin(state, context)
  const more = firstAt === null ? {} : { duplicateOf: firstAt, refused: isRefused }
  const record: FireRecord = {
    ...{ schedule: state.id, dueAt: at, nonce: id, job: state.definition.job, tenant: null, kind: 'manual', round: 1 },
    ...{ plannedAt: at, readyAt: at, attempt: 0, input: { ...by, ...more } },
    ...{ ending: null, endedAt: null, number: null, expiresAt: null, range: null },
  }
  if (firstAt === null) set(draft, { last: { ...state.last, dueAt: at } })
  endUnrun(draft, record, firstAt === null ? ending('completed') : ending('overlap', 'duplicate'))
  return { decision: finish(draft), at, firstAt }
}
