import { WAIT_ENDED } from '../engine/wait-ended.ts'

/**
 * The callers in this process that wait for the same thing, in the order in which they came. Only the first asks the store; when it
 * leaves, the next one has its turn at once.
 */
export class WaitingLine {
  /** The callers behind the one whose turn it is. */
  readonly #lines = new Map<string, AbortController[]>()

  /** Aborted when it is the caller's turn. */
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

  /** Removes a caller, whether its turn has come or not. */
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
