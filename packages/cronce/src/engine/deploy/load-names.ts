import type { ScheduleState } from '../../model/schedule.ts'
import type { Context } from '../../policy/decision.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import { isOf } from './declarations.ts'
import { nextName } from './other-names.ts'

const BATCH = 200
/** How many renames are followed, one after the other. */
const MAX_HOPS = 20

export interface Loaded {
  readonly schedules: readonly ScheduleState[]
  /** As of the last read; `null`: no names were asked for. */
  readonly context: Context | null
}

/** The schedules of these names, and those that they were renamed to: in this app, one after the other. Throws when the store does. */
export async function loadNames(core: Core, operation: string, names: readonly string[]): Promise<Loaded> {
  const schedules = new Map<string, ScheduleState>()
  const asked = new Set<string>()
  let context: Context | null = null
  let next = [...new Set(names)]
  for (let hops = 0; next.length > 0 && hops <= MAX_HOPS; hops++) {
    for (let start = 0; start < next.length; start += BATCH) {
      const batch = next.slice(start, start + BATCH)
      const loaded = await callStore(core, operation, () => core.parts.store.load(batch))
      context = core.context(loaded)
      for (const state of loaded.schedules) schedules.set(state.id, state)
    }
    for (const name of next) asked.add(name)
    // Of a name of another app only whether its rename is finished matters.
    const followed = [...schedules.values()].filter((state) => hops === 0 || isOf(state, core.settings.app))
    const later = followed.flatMap((state) => nextName(state) ?? [])
    next = [...new Set(later)].filter((name) => !asked.has(name))
  }
  return { schedules: [...schedules.values()], context }
}
