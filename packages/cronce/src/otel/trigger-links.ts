import type { Link, SpanContext } from '@opentelemetry/api'

interface TriggeredFire {
  readonly schedule: string
  readonly dueAt: number
  readonly nonce: string
}

/** Fires that were triggered here and have not run here yet. A peer may run them, so their number is bounded. */
const MOST = 1_000

/** Remembers which span triggered a fire, for the spans of its runs in this process. */
export class TriggerLinks {
  readonly #spans = new Map<string, SpanContext>()

  add(fire: TriggeredFire, span: SpanContext | undefined): void {
    if (span === undefined) return
    this.#spans.set(keyOf(fire), span)
    // A Map lists the oldest first.
    for (const oldest of this.#spans.keys()) {
      if (this.#spans.size <= MOST) return
      this.#spans.delete(oldest)
    }
  }

  /** Kept until newer ones take its place: a retry has the same link. */
  of(fire: TriggeredFire): readonly Link[] {
    const context = this.#spans.get(keyOf(fire))
    return context === undefined ? [] : [{ context }]
  }
}

function keyOf({ schedule, dueAt, nonce }: TriggeredFire): string {
  return JSON.stringify([schedule, dueAt, nonce])
}
