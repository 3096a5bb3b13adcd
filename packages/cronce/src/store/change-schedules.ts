import type { Clock } from '../clock.ts'
import type { Change } from '../model/change.ts'
import { isPromise } from '../model/is-promise.ts'
import type { Instant, ScheduleState } from '../model/schedule.ts'
import { contention, pauseAmong } from '../policy/contention.ts'
import type { Context, Decision } from '../policy/decision.ts'
import type { Applied, ChangeResult, Loaded } from './store.ts'

/** The result of the decision about one schedule. `unchanged`: there was nothing to decide. */
export type Changed =
  | { readonly kind: 'applied'; readonly decision: Decision; readonly now: Instant }
  | { readonly kind: 'unchanged'; readonly state: ScheduleState | null }
  | { readonly kind: 'refused'; readonly result: ChangeResult }

type DecideLater = (
  id: string,
  state: ScheduleState | null,
  context: Context,
) => Decision | null | Promise<Decision | null>

/** How a process waits between attempts, and when it gives up. */
export interface Patience {
  readonly clock: Pick<Clock, 'mono' | 'pause'>
  readonly random: () => number
  /** @default no limit */
  readonly mostTries?: number
  /** No try begins later than this, by the monotonic clock. @default no limit */
  readonly givenUpAt?: number
}

/** How a process writes decisions. */
export interface Writes {
  apply(changes: readonly Change[]): Promise<Pick<Applied, 'now' | 'results'>>
  /** A decision was written. */
  applied(decision: Decision): void
  /** Whether to read and decide again after this answer. @default only after a conflict */
  isAgain?(decision: Decision, result: ChangeResult): boolean
}

/** How a process reads and writes schedules. */
export interface ScheduleAccess extends Patience, Writes {
  load(ids: readonly string[]): Promise<Loaded>
  context(loaded: Loaded): Context
  /** Called before every attempt but the first. Throws if another attempt can't succeed. */
  beforeRetry?(): Promise<void>
}

/**
 * Reads, decides and writes; and once more for schedules that another process changed in between, or is changing right now. Throws
 * when the store does, and CONTENTION when patience is used up: `done` has what was done before.
 */
export async function changeSchedules(
  access: ScheduleAccess,
  ids: readonly string[],
  decide: DecideLater,
  done = new Map<string, Changed>(),
): Promise<ReadonlyMap<string, Changed>> {
  let pending = ids
  for (let tries = 0; pending.length > 0; tries++) {
    await beforeTry(access, tries, pending[0]!)
    if (tries > 0) await access.beforeRetry?.()
    const loaded = await access.load(pending)
    const states = new Map(loaded.schedules.map((state) => [state.id, state]))
    const context = access.context(loaded)
    const decisions: Decision[] = []
    for (const id of pending) {
      const state = states.get(id) ?? null
      const decided = decide(id, state, context)
      const decision = isPromise(decided) ? await decided : decided
      if (decision === null) done.set(id, { kind: 'unchanged', state })
      else decisions.push(decision)
    }
    pending = await applyDecisions(access, decisions, done)
  }
  return done
}

/** Waits before an attempt, counted from zero. Throws CONTENTION after the last one. */
export async function beforeTry(patience: Patience, tries: number, id: string): Promise<void> {
  const { clock, random, mostTries = Infinity, givenUpAt = Infinity } = patience
  if (tries >= mostTries) throw contention(id, tries)
  const pauseMs = pauseAmong(tries, random)
  if (pauseMs > 0) await clock.pause(pauseMs)
  if (tries > 0 && clock.mono() >= givenUpAt) throw contention(id, tries)
}

/** Writes decisions. Returns the ids of the schedules to decide about again. Throws when the store does. */
export async function applyDecisions(
  writes: Writes,
  decisions: readonly Decision[],
  done: Map<string, Changed>,
): Promise<string[]> {
  if (decisions.length === 0) return []
  const { now, results } = await writes.apply(decisions.map(({ change }) => change))
  const again: string[] = []
  for (const [index, decision] of decisions.entries()) {
    const { id } = decision.change
    const result = results[index]!
    const isApplied = result.kind === 'applied'
    if (writes.isAgain?.(decision, result) ?? result.kind === 'conflict') again.push(id)
    else done.set(id, isApplied ? { kind: 'applied', decision, now } : { kind: 'refused', result })
    if (isApplied) writes.applied(decision)
  }
  return again
}
