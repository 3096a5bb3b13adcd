import type { Instant, ScheduleState } from '../model/schedule.ts'
import { appChanged, contention, pauseAmong } from '../policy/contention.ts'
import type { Context, Decision } from '../policy/decision.ts'
import type { ApplyOptions, ChangeResult } from '../store/store.ts'
import type { Core } from './core.ts'
import { callStore } from './store-calls.ts'

/** What came of the decision about one schedule. `unchanged`: there was nothing to decide, or no such schedule. */
export type Changed =
  | { readonly kind: 'applied'; readonly decision: Decision; readonly now: Instant }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly result: ChangeResult }

export type Decide = (id: string, state: ScheduleState | null, context: Context) => Decision | null

/**
 * Read, decide, write; and once more for those that somebody else changed in between, or is changing right now. Throws when
 * the store does, or when that takes too long: what was done before is in `done`.
 */
export async function changeSchedules(
  core: Core,
  operation: string,
  ids: readonly string[],
  decide: Decide,
  options: ApplyOptions<unknown> = {},
  done = new Map<string, Changed>(),
): Promise<ReadonlyMap<string, Changed>> {
  let pending = ids
  const { clock, random } = core.parts
  const givenUpAt = clock.mono() + core.settings.storeDeadlineMs
  for (let round = 0; pending.length > 0; round++) {
    const pauseMs = pauseAmong(round, random)
    if (pauseMs > 0) await clock.pause(pauseMs)
    if (round > 0 && clock.mono() >= givenUpAt) throw contention(pending[0]!, round)
    if (round > 0 && options.app !== undefined) await demandUnchanged(core, options.app)
    const sentAt = core.parts.clock.mono()
    const asked = pending
    const loaded = await callStore(core, `${operation} (read)`, () => core.parts.store.load(asked))
    core.time.observe(loaded.now, sentAt)
    core.epochs.observe(loaded.epoch)
    const states = new Map(loaded.schedules.map((state) => [state.id, state]))
    const context = core.context(loaded)
    const decisions: Decision[] = []
    for (const id of pending) {
      const decision = decide(id, states.get(id) ?? null, context)
      if (decision === null) done.set(id, { kind: 'unchanged' })
      else decisions.push(decision)
    }
    pending = await applyDecisions(core, operation, decisions, options, done)
  }
  return done
}

/** Otherwise every further try would meet the same conflict. */
async function demandUnchanged(
  core: Core,
  { name, version }: NonNullable<ApplyOptions<unknown>['app']>,
): Promise<void> {
  const { app } = await callStore(core, 'deploy (read)', () => core.parts.store.loadApp(name))
  if ((app?.version ?? 0) !== version) throw appChanged(name)
}

/** Answers the ids that met somebody else's change. */
export async function applyDecisions(
  core: Core,
  operation: string,
  decisions: readonly Decision[],
  options: ApplyOptions<unknown>,
  done: Map<string, Changed>,
): Promise<string[]> {
  if (decisions.length === 0) return []
  const changes = decisions.map(({ change }) => change)
  const sentAt = core.parts.clock.mono()
  const { now, results } = await callStore(core, operation, () => core.parts.store.apply(changes, options))
  core.time.observe(now, sentAt)
  const again: string[] = []
  for (let index = 0; index < decisions.length; index++) {
    const decision = decisions[index]!
    const result = results[index]!
    if (result.kind === 'conflict') again.push(decision.change.id)
    else if (result.kind === 'applied') {
      done.set(decision.change.id, { kind: 'applied', decision, now })
      core.applied(decision)
    } else done.set(decision.change.id, { kind: 'refused', result })
  }
  return again
}
