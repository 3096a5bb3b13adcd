import { policyOf } from '../../src/model/policy.ts'
import type { Instant, OpenFire, ScheduleState } from '../../src/model/schedule.ts'
import type { Decision } from '../../src/policy/decision.ts'
import { recordsOf } from './records-of.ts'

const isActive = (fire: OpenFire): boolean => fire.run !== null || fire.attempt > 0
const keyOf = ({ dueAt, nonce }: { dueAt: Instant; nonce: string }): string => `${dueAt} ${nonce}`

/** Computes from when waiting fires are late, from events alone, without the product's own notes. */
export class Waits {
  /** Fires that a pause held back until its end chose to run them, or that were delivered. */
  readonly #asked = new Set<string>()
  readonly #since = new Map<string, Instant>()
  readonly #foundLate = new Set<string>()
  /** An instant that is being delivered. */
  delivered: Instant | null = null

  isJudged(fire: OpenFire, state: ScheduleState): boolean {
    if (isActive(fire) || fire.kind !== 'scheduled' || fire.round > 1 || this.#asked.has(keyOf(fire))) return false
    return policyOf(fire.own?.policy ?? state.definition.policy).overlap.kind !== 'queue-all'
  }

  /** `null`: it waits for its turn, and is not late meanwhile. */
  latenessOf(fire: OpenFire, state: ScheduleState, now: Instant): number | null {
    if (isBlocked(fire, state) && isPromisedTurn(fire, state)) return null
    return now - Math.max(fire.readyAt, this.#since.get(keyOf(fire)) ?? fire.readyAt)
  }

  isLate(fire: OpenFire, state: ScheduleState, now: Instant): boolean {
    const lateness = this.isJudged(fire, state) ? this.latenessOf(fire, state, now) : null
    return lateness !== null && lateness > policyOf(fire.own?.policy ?? state.definition.policy).misfire.graceMs
  }

  wasFoundLate(fire: OpenFire): boolean {
    return this.#foundLate.has(keyOf(fire))
  }

  follow(before: ScheduleState, { change }: Decision, now: Instant): void {
    const stays = new Set((change.state?.open ?? []).map(keyOf))
    const waiting = before.open.filter((fire) => !isActive(fire) && stays.has(keyOf(fire)))
    const hasEnded = before.open.some((fire) => isActive(fire) && !stays.has(keyOf(fire)))
    for (const fire of waiting) {
      if (hasEnded && isBlocked(fire, before) && isPromisedTurn(fire, before)) this.#since.set(keyOf(fire), now)
    }
    const { pause } = before
    if (this.delivered !== null) this.#asked.add(keyOf({ dueAt: this.delivered, nonce: '' }))
    if (pause === null) return
    const isOver = pause.until !== null && pause.until <= now
    for (const { dueAt, nonce, ending } of recordsOf(change).creates) {
      if (nonce === '' && ending === null && (!isOver || dueAt < pause.until!)) this.#asked.add(keyOf({ dueAt, nonce }))
    }
    if (change.state?.pause === null) {
      const endedAt = isOver ? pause.until! : now
      for (const fire of waiting) {
        this.#since.set(keyOf(fire), Math.max(endedAt, this.#since.get(keyOf(fire)) ?? endedAt))
      }
    }
  }

  /** A look has judged these: what is left of them was kept. */
  noteLate(seen: ScheduleState, now: Instant): void {
    for (const fire of seen.open) if (this.isLate(fire, seen, now)) this.#foundLate.add(keyOf(fire))
  }
}

function isBlocked(fire: OpenFire, { open, definition }: ScheduleState): boolean {
  const { overlap } = policyOf(fire.own?.policy ?? definition.policy)
  return open.filter(isActive).length >= (overlap.kind === 'allow' ? overlap.limit : 1)
}

function isPromisedTurn(fire: OpenFire, { open, definition }: ScheduleState): boolean {
  const { overlap, misfire } = policyOf(fire.own?.policy ?? definition.policy)
  return overlap.kind === 'queue' || misfire.late === 'all' || open.some(({ kind }) => kind === 'backfill')
}
