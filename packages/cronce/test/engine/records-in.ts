import type { FireRecord, RunRecord } from '../../src/model/record.ts'
import { isRunning, type ScheduleState } from '../../src/model/schedule.ts'
import { viewEndedFire, viewEndedRun, viewOpenFire, viewOpenRun } from '../../src/model/views.ts'
import { fireKeyText, type NamespaceData, runKeyText } from '../../src/store/memory/data.ts'

export interface RecordsIn {
  /** By `fireKeyText`. */
  readonly fires: ReadonlyMap<string, FireRecord>
  /** By `runKeyText`. */
  readonly runs: ReadonlyMap<string, RunRecord>
  readonly schedules: ReadonlyMap<string, ScheduleState>
  readonly apps: NamespaceData['apps']
}

/** All fires and runs of a store in memory, read off its history and its states without its indexes. */
export function recordsIn({ schedules, history, apps }: NamespaceData): RecordsIn {
  const fires = new Map<string, FireRecord>()
  const runs = new Map<string, RunRecord>()
  for (const line of history.values()) {
    if (line.isFinal) fires.set(fireKeyText(line), viewEndedFire(line))
    const run = viewEndedRun(line)
    if (run !== null) runs.set(runKeyText(run.schedule, run.token), run)
  }
  for (const state of schedules.values()) {
    for (const fire of state.open) {
      fires.set(fireKeyText({ ...fire, schedule: state.id }), viewOpenFire(state, fire))
      if (isRunning(fire)) runs.set(runKeyText(state.id, fire.run.token), viewOpenRun(state, fire))
    }
  }
  return { fires, runs, schedules, apps }
}
