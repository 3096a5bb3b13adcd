import type { Clock } from '../clock.ts'
import type { Change } from '../model/change.ts'
import type { FireKey, RunRecord } from '../model/record.ts'
import type { ScheduleState } from '../model/schedule.ts'
import { isNewerToken } from '../model/token.ts'
import type { Decision } from '../policy/decision.ts'
import type { KnownFire } from '../policy/restore.ts'

/**
 * What this instance wrote lately about runs that began or ended: a store that went back in time has forgotten it. Only what a
 * store of that kind could lose is kept, and not for long.
 */
export interface Recent {
  /** A decision of this instance was applied. */
  applied(decision: Decision): void
  /** The oldest first. */
  all(): readonly Remembered[]
  /** Somebody began it again: what is on record about it from then on is theirs. */
  forget(fire: FireKey): void
  /** Something that is not older than what is kept was forgotten, since it was too much. */
  isCut(): boolean
  /** Something was forgotten because it was too old. */
  hasForgotten(): boolean
}

export interface Remembered extends KnownFire {
  /** The schedule as it was written with it, and in which epoch; `null`: it was removed. */
  readonly state: ScheduleState | null
  readonly epoch: number
  /** By the monotonic clock. */
  readonly at: number
}

const KEPT_MS = 60_000
/** Of changes: a fire is mostly two of them. */
const MOST = 4_000

type Written = { readonly change: Change; readonly at: number } | { readonly forgotten: FireKey; readonly at: number }

export function recent(clock: Clock, losesWrites: boolean): Recent {
  /** What was written, the oldest first. What it says of each fire is worked out when somebody asks, which is hardly ever. */
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
    // In one go, once in a while: to take away the first of an array moves all others.
    if (oldest < MOST) return
    written = written.slice(oldest)
    oldest = 0
  }

  return {
    applied({ change }) {
      if (losesWrites && change.runs.length > 0) add({ change, at: clock.mono() })
    },
    all() {
      const fires = new Map<string, Remembered>()
      for (const one of written.slice(oldest)) {
        if ('change' in one) for (const run of one.change.runs) remember(fires, run, one)
        else fires.delete(fireText(one.forgotten))
      }
      return [...fires.values()]
    },
    forget(fire) {
      if (losesWrites) add({ forgotten: fire, at: clock.mono() })
    },
    isCut: () => cutAt >= clock.mono() - KEPT_MS,
    hasForgotten: () => hasForgotten,
  }
}

/** By fire, in the order of their last change. */
function remember(
  fires: Map<string, Remembered>,
  run: RunRecord,
  { change, at }: { readonly change: Change; readonly at: number },
): void {
  const { schedule, dueAt, nonce } = run
  const key = fireText(run)
  const known = fires.get(key)
  // Answers may overtake each other.
  if (known !== undefined && isNewerToken(known.token, run.token)) return
  // One that was open when another began was overtaken: how it ended is known to others.
  const runs = (known?.runs ?? []).filter(({ token, ending }) => token !== run.token && ending !== null)
  const isSame = (fire: { dueAt: number; nonce: string }): boolean => fire.dueAt === dueAt && fire.nonce === nonce
  const record = change.updates.find(isSame) ?? change.creates.find(isSame)
  // Only the run is put right: the fire had gone on without it.
  if (record === undefined) return
  fires.delete(key)
  fires.set(key, {
    fire: { schedule, dueAt, nonce },
    token: run.token,
    open: change.state?.open.find(isSame) ?? null,
    record,
    runs: [...runs, run],
    isElsewhere: false,
    state: change.state,
    epoch: change.epoch,
    at,
  })
}

export function fireText({ schedule, dueAt, nonce }: FireKey): string {
  return `${dueAt}:${schedule.length}:${schedule}${nonce}`
}
