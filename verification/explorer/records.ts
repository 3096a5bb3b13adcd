import type { FireRecord, HistoryRecord, RunRecord } from '../../packages/cronce/src/model/record.ts'
import { isRunning, type RunningFire } from '../../packages/cronce/src/model/schedule.ts'
import { viewEndedFire, viewEndedRun, viewOpenFire, viewOpenRun } from '../../packages/cronce/src/model/views.ts'
import { fireKeyText, type NamespaceData, runKeyText } from '../../packages/cronce/src/store/memory/data.ts'

/** Fires and runs as a store lists them, without its indexes: what is open from the states, what has ended from the history. */
interface Records {
  readonly fires: ReadonlyMap<string, FireRecord>
  readonly runs: ReadonlyMap<string, RunRecord>
}

const known = new WeakMap<NamespaceData, Records>()
/** Of one line, always the same object: what has changed is another line. */
const endedFires = new WeakMap<HistoryRecord, FireRecord>()
const endedRuns = new WeakMap<HistoryRecord, RunRecord>()

/** Of a snapshot, which never changes. */
export function recordsOf(space: NamespaceData): Records {
  const found = known.get(space) ?? read(space)
  known.set(space, found)
  return found
}

export function openRunsOf({ schedules }: NamespaceData): RunningFire[] {
  return [...schedules.values()].flatMap(({ open }) => open.filter(isRunning))
}

function read({ schedules, history }: NamespaceData): Records {
  const fires = new Map<string, FireRecord>()
  const runs = new Map<string, RunRecord>()
  for (const line of history.values()) {
    if (line.isFinal) fires.set(fireKeyText(line), cached(endedFires, line, viewEndedFire))
    if (line.run !== null) {
      runs.set(
        runKeyText(line.schedule, line.run.token),
        cached(endedRuns, line, (ended) => viewEndedRun(ended)!),
      )
    }
  }
  for (const state of schedules.values()) {
    for (const fire of state.open) {
      fires.set(fireKeyText({ ...fire, schedule: state.id }), viewOpenFire(state, fire))
      if (isRunning(fire)) runs.set(runKeyText(state.id, fire.run.token), viewOpenRun(state, fire))
    }
  }
  return { fires, runs }
}

function cached<View>(
  views: WeakMap<HistoryRecord, View>,
  line: HistoryRecord,
  make: (line: HistoryRecord) => View,
): View {
  const view = views.get(line) ?? make(line)
  views.set(line, view)
  return view
}
