import type { Fleet } from './fleet.ts'
import { identityOf } from './identity.ts'
import { movesOf } from './moves.ts'
import { type State, TICK_MS } from './state.ts'

/** Twice dying, watching and taking over, and the rest. */
const MOST_TICKS = 16
const MOST_MOVES = 600

/**
 * Whether everything ends without further faults: makes all possible moves in one fair order, and advances time when
 * none is left. One such path is enough. `known`: states that have one.
 */
export async function findStuck(fleet: Fleet, from: State, known: Set<string>): Promise<string | null> {
  const endless = { ...fleet, options: { ...fleet.options, ticks: from.now + MOST_TICKS } }
  const seen = new Set<string>([identityOf(fleet.options, from)])
  let state: State | null = from
  for (let count = 0; state !== null && count < MOST_MOVES; count++) {
    if (isDone(fleet, state) || known.has(identityOf(fleet.options, state))) {
      for (const identity of seen) known.add(identity)
      return null
    }
    state = await firstNew(endless, state, seen)
  }
  return 'L1: nothing more can happen, and not everything has ended'
}

async function firstNew(fleet: Fleet, state: State, seen: Set<string>): Promise<State | null> {
  for (const { isFault, make } of await movesOf(fleet, state)) {
    if (isFault) continue
    const next = await make()
    const identity = identityOf(fleet.options, next)
    if (seen.has(identity)) continue
    seen.add(identity)
    return next
  }
  return null
}

/** All instants of the schedule have ended, or the schedule is paused or removed. */
function isDone({ options }: Fleet, { store, now, workers, operator }: State): boolean {
  if (operator.script.length > 0 || workers.some(({ run }) => run !== null)) return false
  const [schedule] = store.space.schedules.values()
  if (schedule === undefined || schedule.pause !== null) return true
  const { open, nextAt } = schedule
  return open.length === 0 && (nextAt === null || nextAt > Math.max(now, ...options.instants) * TICK_MS)
}
