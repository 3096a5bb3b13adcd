import type { Clock } from '../../clock.ts'
import type { Change } from '../../model/change.ts'
import type { FireKey } from '../../model/record.ts'
import { NOBODY, type OpenFire, type ScheduleState } from '../../model/schedule.ts'
import { isNewerToken } from '../../model/token.ts'
import type { Decision, StartedRun } from '../../policy/decision.ts'
import type { KnownFire } from '../../policy/end/restore.ts'

/**
 * Recent writes of this instance about runs that began or ended, for a store that may lose acknowledged writes. Other stores use
 * `NOTHING_RECENT`: when their epoch moves, only the runs that are executed here must be written again.
 */
export interface Recent {
  /** A decision of this instance was applied. */
  applied(decision: Decision): void
  /** Oldest first. */
  all(): readonly Remembered[]
  /** A peer started the fire again: from now on its records are the peer's. */
  forget(fire: FireKey): void
  /** A change no older than those that are kept was dropped, because there were too many. */
  isCut(): boolean
  /** A change was dropped because it was too old. */
  hasForgotten(): boolean
}

export interface Remembered extends KnownFire {
  /** The schedule as written with the change, and the epoch; `null`: it was removed. */
  readonly state: ScheduleState | null
  readonly epoch: number
  /** By the monotonic clock. */
  readonly at: number
}

const KEPT_MS = 60_000
/** Most changes that are kept; a fire mostly has two. */
const MOST = 4_000

interface WrittenChange {
  readonly change: Change
  /** Runs that began with the change. */
  readonly started: readonly StartedRun[]
  readonly at: number
}

type Written = WrittenChange | { readonly forgotten: FireKey; readonly at: number }

export const NOTHING_RECENT: Recent = {
  applied() {},
  all: () => [],
  forget() {},
  isCut: () => false,
  hasForgotten: () => false,
}

/** Keeps changes of the last minute, at most `MOST` of them. */
export function recentChanges(clock: Clock): Recent {
  /** The changes, oldest first. What they say about each fire is computed on demand, which is rare. */
  let written: Written[] = []
  let oldest = 0
  let cutAt = Number.NEGATIVE_INFINITY
  let hasForgotten = false

  const add = (one: Written): void => {
    written.push(one)
    while (written.length - oldest > MOST || written[oldest]!.at < one.at - KEPT_MS) {
      if (written[oldest]!.at >= one.at - KEPT_MS) cutAt = one.at
      hasForgotten = true
      oldest++
    }
    // All at once, now and then: removing the first element of an array moves all others.
    if (oldest < MOST) return
    written = written.slice(oldest)
    oldest = 0
  }

  return {
    applied({ change, started }) {
      if (isAboutRuns(change, started)) add({ change, started, at: clock.mono() })
    },
    all() {
      const fires = new Map<string, Remembered>()
      for (const one of written.slice(oldest)) {
        if ('change' in one) remember(fires, one)
        else fires.delete(fireText(one.forgotten))
      }
      return [...fires.values()]
    },
    forget(fire) {
      add({ forgotten: fire, at: clock.mono() })
    },
    isCut: () => cutAt >= clock.mono() - KEPT_MS,
    hasForgotten: () => hasForgotten,
  }
}

function isAboutRuns({ state, history }: Change, started: readonly StartedRun[]): boolean {
  return started.length > 0 || history.some(({ run }) => run !== null) || state?.open.some(isParked) === true
}

function isParked({ run }: OpenFire): boolean {
  return run?.instance === NOBODY
}

/** By fire, in the order of their last change. */
function remember(fires: Map<string, Remembered>, { change, started, at }: WrittenChange): void {
  const schedule = change.id
  const touched = [
    ...change.history.filter(({ run }) => run !== null),
    ...started.map(({ fire }) => fire),
    ...(change.state?.open.filter(isParked) ?? []),
  ]
  const keys = new Map(touched.map(({ dueAt, nonce }) => [fireText({ schedule, dueAt, nonce }), { dueAt, nonce }]))
  for (const [key, { dueAt, nonce }] of keys) {
    const known = fires.get(key)
    const isSame = (fire: Pick<FireKey, 'dueAt' | 'nonce'>): boolean => fire.dueAt === dueAt && fire.nonce === nonce
    const open = change.state?.open.find(isSame) ?? null
    const lines = change.history.filter(isSame)
    const isOwn = open !== null && (isParked(open) || started.some(({ fire }) => isSame(fire)))
    const tokens = [...lines.map(({ run }) => run?.token), isOwn ? open.run?.token : undefined]
    const token = tokens.filter((one) => one !== undefined).reduce((a, b) => (isNewerToken(a, b) ? a : b))
    // Answers may overtake each other.
    if (known !== undefined && isNewerToken(known.token, token)) continue
    // Only the run is corrected: the fire had gone on without it.
    const isOvertaken = open === null ? !lines.some(({ isFinal }) => isFinal) : isOlder(token, open)
    if (isOvertaken) continue
    fires.delete(key)
    fires.set(key, {
      ...{ fire: { schedule, dueAt, nonce }, token, open, history: [...(known?.history ?? []), ...lines] },
      ...{ isElsewhere: false, state: change.state, epoch: change.epoch, at },
    })
  }
}

function isOlder(token: string, { run }: OpenFire): boolean {
  return run !== null && isNewerToken(run.token, token)
}

export function fireText({ schedule, dueAt, nonce }: FireKey): string {
  return `${dueAt}:${schedule.length}:${schedule}${nonce}`
}
