import type { FireEnd, FireRecord, HistoryRecord, RunRecord } from './record.ts'
import type { OpenFire, RunningFire, ScheduleState } from './schedule.ts'

// Fires and runs as they are listed: what is open comes from the state of its schedule, what has ended from the history.

export function viewOpenFire({ id, definition }: Pick<ScheduleState, 'id' | 'definition'>, fire: OpenFire): FireRecord {
  return {
    schedule: id,
    dueAt: fire.dueAt,
    nonce: fire.nonce,
    job: definition.job,
    tenant: fire.tenant === undefined ? definition.tenant : fire.tenant,
    kind: fire.kind,
    round: fire.round,
    plannedAt: fire.plannedAt,
    readyAt: fire.readyAt,
    attempt: fire.attempt,
    input: fire.own === null ? null : fire.own.input,
    ...(fire.own !== null && fire.own.input === null ? { givenNull: true } : {}),
    ...(fire.asked === undefined ? {} : { asked: fire.asked }),
    ending: null,
    endedAt: null,
    number: null,
    expiresAt: null,
    range: null,
  }
}

export function viewOpenRun(
  { id, definition }: Pick<ScheduleState, 'id' | 'definition'>,
  fire: RunningFire,
): RunRecord {
  const { run } = fire
  return {
    schedule: id,
    dueAt: fire.dueAt,
    nonce: fire.nonce,
    token: run.token,
    job: definition.job,
    round: fire.round,
    attempt: fire.attempt,
    instance: run.instance,
    startedAt: run.startedAt,
    readyAt: fire.readyAt,
    ...(run.cause === undefined ? {} : { cause: run.cause }),
    cancel: run.cancel,
    number: null,
    ending: null,
    endedAt: null,
    error: null,
    result: null,
  }
}

/** The fire that ended with this line, which is its final one. */
export function viewEndedFire(line: HistoryRecord): FireRecord {
  const { isFinal: _, run: __, ...fire } = line
  return fire
}

/** `null`: the line is not about a run. */
export function viewEndedRun(line: HistoryRecord): RunRecord | null {
  const { run } = line
  if (run === null) return null
  return {
    schedule: line.schedule,
    dueAt: line.dueAt,
    nonce: line.nonce,
    token: run.token,
    job: line.job,
    round: line.round,
    attempt: line.attempt,
    instance: run.instance,
    startedAt: run.startedAt,
    readyAt: line.readyAt,
    ...(run.cause === undefined ? {} : { cause: run.cause }),
    cancel: run.cancel,
    number: line.number,
    ending: line.ending,
    endedAt: line.endedAt,
    error: run.error,
    result: run.result,
  }
}

export function viewEnd({ schedule, dueAt, nonce, ending, attempt, run, endedAt, range }: HistoryRecord): FireEnd {
  return {
    ...{ schedule, dueAt, nonce, outcome: ending.outcome, reason: ending.reason, attempt },
    ...{ startedAt: run === null ? null : run.startedAt, endedAt },
    ...{ count: range === null ? 1 : range.count, untilAt: range === null ? dueAt : range.untilAt },
  }
}

/** The line of a fire, or a range of instants, that ended without a run. */
export function lineOf(fire: FireRecord): HistoryRecord {
  const { ending, endedAt, number, expiresAt, ...rest } = fire
  if (ending === null || endedAt === null || number === null || expiresAt === null) {
    throw new Error(`The fire of ${fire.schedule} due ${fire.dueAt} has not ended.`)
  }
  return { ...rest, ending, endedAt, number, expiresAt, isFinal: true, run: null }
}
