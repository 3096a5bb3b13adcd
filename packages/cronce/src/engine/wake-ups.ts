import type { Core } from './core.ts'
import { WAIT_ENDED } from './wait-ended.ts'

/** Wake-ups of the store, and callers that wait for one. */
export class WakeUps {
  readonly #core: Pick<Core, 'stopping'> & { readonly parts: Pick<Core['parts'], 'clock'> }
  readonly #waiting = new Set<AbortController>()
  #count = 0

  constructor(core: Pick<Core, 'stopping'> & { readonly parts: Pick<Core['parts'], 'clock'> }) {
    this.#core = core
  }

  get count(): number {
    return this.#count
  }

  add(): void {
    this.#count++
    this.endWaits()
  }

  endWaits(): void {
    for (const one of this.#waiting) one.abort(WAIT_ENDED)
  }

  /**
   * Waits for the next wake-up, but no longer than this. Returns at once if there was one after `since`, or the instance stops.
   */
  async wait(ms: number, signal?: AbortSignal, since = this.#count): Promise<void> {
    const one = new AbortController()
    const isOver = (): void => one.abort(WAIT_ENDED)
    this.#waiting.add(one)
    signal?.addEventListener('abort', isOver, { once: true })
    if (signal?.aborted === true || this.#core.stopping || since !== this.#count) isOver()
    await this.#core.parts.clock.sleep(ms, one.signal)
    signal?.removeEventListener('abort', isOver)
    this.#waiting.delete(one)
  }
}
