import type { EndedRun, FireEnd, FireRecord, HistoryRecord, ListedRecord, RunNotes, RunRecord } from './record.ts'
import { isRunning, type OpenFire, type RunningFire, type ScheduleState } from './schedule.ts'

// Fires and runs as they are listed: what is open comes from the state of its schedule, what has ended from the history.

export function viewOpenFire({ id, definition }: Pick<ScheduleState, 'id' | 'definition'>, fire: OpenFire): FireRecord {
  const { own, asked } = fire
  const record: FireRecord = {
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
    input: own === null ? null : own.input,
    ending: null,
    endedAt: null,
    number: null,
    expiresAt: null,
    range: null,
  }
  if (own === null && asked === undefined) return record
  const isGivenNull = own !== null && own.input === null
  return { ...record, ...(isGivenNull ? { givenNull: true } : {}), ...(asked === undefined ? {} : { asked }) }
}

export function viewOpenRun(
  { id, definition }: Pick<ScheduleState, 'id' | 'definition'>,
  fire: RunningFire,
): RunRecord {
  const { run } = fire
  const record: RunRecord = {
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
    cancel: run.cancel,
    number: null,
    ending: null,
    endedAt: null,
    error: null,
    result: null,
  }
  return run.cause === undefined ? record : { ...record, cause: run.cause }
}

/** The fire that ended with this line, which is its final one. */
export function viewEndedFire(line: HistoryRecord): FireRecord {
  const { isFinal: _, run: __, ...fire } = line
  return fire
}

/** `null`: the line is not about a run. */
export function viewEndedRun(line: HistoryRecord): RunRecord | null {
  return line.run === null ? null : viewRunOf(line, line.run)
}

function viewRunOf(fire: FireRecord | HistoryRecord, run: EndedRun): RunRecord {
  return {
    schedule: fire.schedule,
    dueAt: fire.dueAt,
    nonce: fire.nonce,
    token: run.token,
    job: fire.job,
    round: fire.round,
    attempt: fire.attempt,
    instance: run.instance,
    startedAt: run.startedAt,
    readyAt: fire.readyAt,
    ...(run.cause === undefined ? {} : { cause: run.cause }),
    cancel: run.cancel,
    number: fire.number,
    ending: fire.ending,
    endedAt: fire.endedAt,
    error: run.error,
    result: run.result,
  }
}

function openRunOf({ token, instance, startedAt, cause, cancel }: RunningFire['run']): EndedRun {
  return { token, instance, startedAt, ...(cause === undefined ? {} : { cause }), cancel, error: null, result: null }
}

export function listLine(line: HistoryRecord, notes: RunNotes | null = null): ListedRecord {
  const { isFinal: _, ...record } = line
  return { ...record, notes }
}

export function listOpenFire(
  state: Pick<ScheduleState, 'id' | 'definition'>,
  fire: OpenFire,
  notes: RunNotes | null = null,
): ListedRecord {
  return { ...viewOpenFire(state, fire), run: isRunning(fire) ? openRunOf(fire.run) : null, notes }
}

export function viewListedFire({ run: _, notes: __, ...fire }: ListedRecord): FireRecord {
  return fire
}

const UNTOLD: RunNotes = { progress: null, log: [], logCut: false }

export function viewListedRun({ run, notes, ...fire }: ListedRecord): RunRecord & RunNotes {
  if (run === null) throw new Error(`The record of ${fire.schedule} due ${fire.dueAt} is not about a run.`)
  return { ...viewRunOf(fire, run), ...(notes ?? UNTOLD) }
}

type Ended = Pick<HistoryRecord, keyof HistoryRecord & keyof ListedRecord>

export function isEnded(record: ListedRecord): record is ListedRecord & Ended {
  return record.ending !== null
}

export function viewEnd({ schedule, dueAt, nonce, ending, attempt, run, endedAt, range }: Ended): FireEnd {
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
