import type { SQLOutputValue } from 'node:sqlite'
import type { FireKey, HistoryRecord, RunNotes, StepRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Row } from './driver.ts'

// Converts between the rows of the tables and the model.

/** The format of `state` that this version writes. Rows with a higher one were written by a newer version, and are left alone. */
export const FORMAT = 1

/** `state` is stored without the definition, which has its own row. */
export function scheduleOf(row: Row): ScheduleState {
  return { ...json<ScheduleState>(row.state), definition: json(row.definition) }
}

export function stateText(state: ScheduleState): string {
  const { definition: _, ...hot } = state
  return JSON.stringify(hot)
}

/** `is_final` is a separate column: it is the only thing that may change. */
export function lineOf(row: Row): HistoryRecord {
  return { ...json<HistoryRecord>(row.line), isFinal: row.is_final === 1 }
}

/** `null` of a run that reported nothing. */
export function notesOf(notes: SQLOutputValue | undefined): RunNotes | null {
  return typeof notes === 'string' ? json(notes) : null
}

export function stepOf(row: Row): StepRecord {
  return {
    ...fireKeyOf(row),
    step: String(row.step),
    state: String(row.state) as StepRecord['state'],
    token: String(row.token),
    result: json(row.result),
    begunAt: Number(row.begun_at),
    endedAt: row.ended_at === null ? null : Number(row.ended_at),
  }
}

export function fireKeyOf(row: Row): FireKey {
  return { schedule: String(row.schedule), dueAt: Number(row.due_at), nonce: String(row.nonce) }
}

export function json<Value>(text: SQLOutputValue | undefined): Value {
  return JSON.parse(String(text)) as Value
}
