import { refuse } from './answer.ts'
import { connectionOf } from './connection.ts'
import { oldestOfBusiest } from './oldest-of.ts'
import { withBody } from './read-body.ts'

interface Arrival {
  readonly address: string
  readonly giveUp: AbortController
}

/**
 * Requests whose senders have proved nothing yet, while their bodies come in: a signature is about the body. Their number is bounded.
 * When it is reached, a newcomer takes the place of the oldest one of the address that has the most: honest senders have their body
 * ready, so the oldest is a slow one.
 */
export class Arrivals {
  readonly #most: number
  /** The oldest first. */
  readonly #arrivals = new Set<Arrival>()

  constructor(most: number) {
    this.#most = most
  }

  /** The request with its whole body. */
  async receive(request: Request): Promise<Request> {
    if (this.#arrivals.size >= this.#most) this.#evict()
    const arrival = { address: connectionOf(request)?.address ?? '', giveUp: new AbortController() }
    this.#arrivals.add(arrival)
    try {
      return await withBody(request, arrival.giveUp.signal)
    } finally {
      this.#arrivals.delete(arrival)
    }
  }

  #evict(): void {
    const arrival = oldestOfBusiest(this.#arrivals)
    if (arrival === undefined) return
    this.#arrivals.delete(arrival)
    arrival.giveUp.abort(refuse('OVERLOADED', 'The body took too long while others waited.', 'Send it again at once.'))
  }
}
