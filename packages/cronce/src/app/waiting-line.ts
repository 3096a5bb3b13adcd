import { WAIT_ENDED } from '../engine/wait-ended.ts'

/**
 * Who waits in this process for what, in the order in which they came: one of them asks the store, not each for itself, and
 * whoever leaves makes room for the next at once.
 */
export class WaitingLine {
  /** Those behind whoever's turn it is. */
  readonly #lines = new Map<string, AbortController[]>()

  /** Aborted when it is one's turn. */
  join(name: string): AbortSignal {
    const turn = new AbortController()
    const line = this.#lines.get(name)
    if (line !== undefined) line.push(turn)
    else {
      this.#lines.set(name, [])
      turn.abort(WAIT_ENDED)
    }
    return turn.signal
  }

  /** Whoever joined leaves, whether its turn has come or not. */
  leave(name: string, turn: AbortSignal): void {
    const line = this.#lines.get(name)
    if (line === undefined) return
    if (!turn.aborted) {
      line.splice(
        line.findIndex(({ signal }) => signal === turn),
        1,
      )
      return
    }
    const next = line.shift()
    if (next === undefined) this.#lines.delete(name)
    else next.abort(WAIT_ENDED)
  }
}
