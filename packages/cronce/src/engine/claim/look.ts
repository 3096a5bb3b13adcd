import type { Instant } from '../../model/schedule.ts'

// Whose schedules an instance looks at, and how long it waits until it looks again: pure functions. Correctness does not depend on
// them, only cost and lateness do. Times are of the monotonic clock unless they are an `Instant` of the store's.

/** What an instance remembers from one look to the next. */
export interface LookMemory {
  readonly lookedAt: number
  /** Looks in a row that changed nothing. */
  readonly fruitless: number
  /** Due schedules that the last look could not change. The next look asks for more, or they would hide those behind them. */
  readonly passedOver: number
  /** Due schedules that the last look left out, because their limit is used up. There may be more of them: the next look asks for twice as many. */
  readonly leftOut: number
  /** The last look left own schedules behind, or lost a race: leave the peers' schedules to them for longer. */
  readonly isPatient: boolean
  /** Until then, look at own schedules only. */
  readonly ownUntil: number
}

export const FIRST_LOOK: LookMemory = {
  lookedAt: Number.NEGATIVE_INFINITY,
  fruitless: 0,
  passedOver: 0,
  leftOut: 0,
  isPatient: false,
  ownUntil: Number.NEGATIVE_INFINITY,
}

/** Schedules in one look, unless the store prefers another number. */
export const BATCH = 500
/** How many due schedules that can't be changed yet a look goes past: each is read again. */
const MOST_PASSED_OVER = 8 * BATCH
/** Wait of an instance that expects nothing. Bounded, so that a lost wake-up costs time and nothing else. */
export const LONG_MS = 3_600_000
/** Multiplies the patience of an instance that has a backlog or has just lost a race: claiming its peers' schedules would cause conflicts. */
const PATIENCE_MULTIPLIER = 20
/** The patience of an instance that looks at its own schedules only. */
const ENDLESS_MS = 9e15
/** After this many lost races in a row, conflicts no longer explain why a look changed nothing. */
const RACES = 3
/** Pause after a look that changed nothing, times the number of such looks in a row. */
const FRUITLESS_MS = 100
const FRUITLESS_SHORTEST_MS = 20
export const FRUITLESS_LONGEST_MS = 1_000

export interface Scope {
  readonly isOwnOnly: boolean
  /** How long a peer's schedule must have been due. */
  readonly patienceMs: number
  readonly limit: number
}

export interface Asking {
  readonly sentAt: number
  /** 0: no other instance will look, so nothing is left to peers. */
  readonly patienceMs: number
  /** Runs that may start. */
  readonly room: number
  /** Schedules that every look finds and cannot decide. */
  readonly failing: number
  /** Most schedules that the store answers and writes well in one call. */
  readonly batch: number
}

/** What to ask the store for. */
export function scopeOf(memory: LookMemory, { sentAt, patienceMs, room, failing, batch }: Asking): Scope {
  const isOwnOnly = sentAt < memory.ownUntil && patienceMs > 0 && memory.passedOver === 0
  return {
    isOwnOnly,
    patienceMs: isOwnOnly ? ENDLESS_MS : memory.isPatient ? patienceMs * PATIENCE_MULTIPLIER : patienceMs,
    // One more than there is room for, to see whether that was all.
    limit: Math.min(batch, room + 1) + Math.min(MOST_PASSED_OVER, memory.passedOver + 2 * memory.leftOut) + failing,
  }
}

/** When schedules beyond those in the answer are due. `null`: never. */
export interface Beyond {
  readonly now: Instant
  readonly mineAt: Instant | null
  readonly othersAt: Instant | null
}

export interface Answered extends Pick<Asking, 'sentAt' | 'patienceMs'> {
  /** Between two looks at the peers' schedules. */
  readonly spacingMs: number
}

export interface Overview {
  readonly memory: LookMemory
  /** More own schedules are due than the answer has. */
  readonly isBehind: boolean
  /** A peer's schedule is overdue by the multiplied patience, so the next look must include it. */
  readonly mayHelp: boolean
}

export function afterAnswer(
  memory: LookMemory,
  { isOwnOnly }: Scope,
  { now, mineAt, othersAt }: Beyond,
  { sentAt, patienceMs, spacingMs }: Answered,
): Overview {
  const isBehind = mineAt !== null && mineAt <= now
  const mayHelp = isOwnOnly && !isBehind && othersAt !== null && othersAt <= now - patienceMs * PATIENCE_MULTIPLIER
  // An instance that is always behind still looks at its peers' schedules now and then: they may need help for good, although they live.
  const ownUntil = !isBehind ? Number.NEGATIVE_INFINITY : isOwnOnly ? memory.ownUntil : sentAt + spacingMs
  return { memory: { ...memory, lookedAt: sentAt, ownUntil, isPatient: isBehind || mayHelp }, isBehind, mayHelp }
}

export interface Leaving {
  readonly memory: LookMemory
  /** If the look left out all that it found, when to look for what they hide; `null`: they hide nothing. */
  readonly againMs: number | null
}

/** The look leaves out `count` schedules. */
export function afterLeaving(memory: LookMemory, count: number, isAll: boolean): Leaving {
  // Halved, not forgotten: when their limit is tried again, they are not left out, and mostly they are at the next look.
  const leftOut = Math.max(count, Math.floor(memory.leftOut / 2))
  const againMs = isAll || count === 0 ? null : count > memory.leftOut ? 0 : FRUITLESS_LONGEST_MS
  return { memory: { ...memory, leftOut }, againMs }
}

/** The look found nothing to decide. */
export function afterNothing(memory: LookMemory): LookMemory {
  return { ...memory, passedOver: 0, fruitless: 0 }
}

export interface ClaimCounts {
  /** Schedules in the answer. */
  readonly found: number
  readonly applied: number
  readonly conflicts: number
  /** The answer had all that is due, every schedule in it was decided, and the store did not fail meanwhile. */
  readonly isComplete: boolean
}

/** `rest`: wait for what is due next. `again`: look at once. `pause`: look again soon. */
export type AfterClaim = { readonly memory: LookMemory; readonly next: 'rest' | 'again' | 'pause' }

export function afterClaim(memory: LookMemory, { found, applied, conflicts, isComplete }: ClaimCounts): AfterClaim {
  const isRace = conflicts > 0 && memory.fruitless < RACES
  const next = {
    ...memory,
    isPatient: memory.isPatient || conflicts > 0,
    passedOver: applied > 0 || isRace ? 0 : found,
    fruitless: applied > 0 ? 0 : memory.fruitless + 1,
  }
  if (isComplete && applied === found) return { memory: next, next: 'rest' }
  return { memory: next, next: applied > 0 || isRace ? 'again' : 'pause' }
}

/** How long to wait after looks that changed nothing, if what is due next comes in `restMs`. */
export function pauseMs({ fruitless }: LookMemory, restMs: number): number {
  return Math.min(FRUITLESS_LONGEST_MS, FRUITLESS_MS * fruitless, Math.max(FRUITLESS_SHORTEST_MS, restMs))
}

export interface Upcoming {
  /** Until the next own schedule is due; `null`: there is none. */
  readonly ownInMs: number | null
  /** Until a peer's schedule has been due for longer than our patience; `null`: there is none. */
  readonly peersInMs: number | null
  /** Until this instance looks at the peers' schedules again. */
  readonly sweepInMs: number
  /** Until a limit that was used up is tried again. */
  readonly limitInMs: number
}

/** Longest time from the look at a schedule to its due time: what the answer to a claim may take, and less than the grace of a peer that is taken for dead. */
const LEAD_MS = 220
/** The same, as a part of how long ahead schedules may be claimed. The rest lets one look find those that are due a little later. */
const LEAD_PART = 3 / 4

/** How long before a schedule is due this instance looks at it, if it may be claimed this long ahead. */
export function leadOf(aheadMs: number): number {
  return Math.min(LEAD_MS, aheadMs * LEAD_PART)
}

/** How long there is nothing to look for. */
export function restMs({ ownInMs, peersInMs, sweepInMs, limitInMs }: Upcoming): number {
  const own = ownInMs ?? LONG_MS
  if (peersInMs === null) return Math.min(own, limitInMs)
  return Math.max(0, Math.min(own, Math.max(peersInMs, sweepInMs), limitInMs))
}
