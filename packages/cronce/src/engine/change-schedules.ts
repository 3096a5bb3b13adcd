import type { Instant, ScheduleState } from '../model/schedule.ts'
import type { Context, Decision } from '../policy/decision.ts'
import type { ApplyOptions, ChangeResult } from '../store/store.ts'
import type { Core } from './core.ts'
import { callStore } from './store-calls.ts'

/** What came of the decision about one schedule. `unchanged`: there was nothing to decide, or no such schedule. */
export type Changed =
  | { readonly kind: 'applied'; readonly decision: Decision; readonly now: Instant }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly result: ChangeResult }

/** Each round that ends in a conflict means that somebody else made progress: a bound for the absurd. */
const ROUNDS = 50

/**
 * Read, decide, write; and once more for those that somebody else changed in between. Throws when the store does: what was
 * done before that is in `done`.
 */
export async function changeSchedules(
  core: Core,
  operation: string,
  ids: readonly string[],
  decide: (id: string, state: ScheduleState | null, context: Context) => Decision | null,
  options: ApplyOptions<unknown> = {},
  done = new Map<string, Changed>(),
): Promise<ReadonlyMap<string, Changed>> {
  let pending = ids
  for (let round = 0; round < ROUNDS && pending.length > 0; round++) {
    const sentAt = core.parts.clock.mono()
    const asked = pending
    const loaded = await callStore(core, `${operation} (read)`, () => core.parts.store.load(asked))
    core.time.observe(loaded.now, sentAt)
    const states = new Map(loaded.schedules.map((state) => [state.id, state]))
    const context = core.context(loaded)
    const decisions: Decision[] = []
    for (const id of pending) {
      const decision = decide(id, states.get(id) ?? null, context)
      if (decision === null) done.set(id, { kind: 'unchanged' })
      else decisions.push(decision)
    }
    pending = await applyRound(core, operation, decisions, options, done)
  }
  return done
}

async function applyRound(
  core: Core,
  operation: string,
  decisions: readonly Decision[],
  options: ApplyOptions<unknown>,
  done: Map<string, Changed>,
): Promise<string[]> {
  if (decisions.length === 0) return []
  const changes = decisions.map(({ change }) => change)
  const { now, results } = await callStore(core, operation, () => core.parts.store.apply(changes, options))
  const again: string[] = []
  for (const [index, decision] of decisions.entries()) {
    const result = results[index]!
    if (result.kind === 'conflict') again.push(decision.change.id)
    else if (result.kind === 'applied') {
      done.set(decision.change.id, { kind: 'applied', decision, now })
      for (const event of decision.events) core.parts.emit(event)
    } else done.set(decision.change.id, { kind: 'refused', result })
  }
  return again
}
