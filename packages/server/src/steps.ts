import { setImmediate as nextTurn } from 'node:timers/promises'

/** The longest time that other requests wait for one that looks far ahead. */
const TURN_MS = 10

/** How many instants one request may compute, over all schedules that it looks at; others have their turn in between. */
export class Steps {
  readonly #turnMs: number
  #left: number
  #since = performance.now()

  constructor(most = 100_000, turnMs = TURN_MS) {
    this.#left = most
    this.#turnMs = turnMs
  }

  /** Some of what was asked for was not looked at. */
  isSpent = false

  /** False: there are none left. */
  async take(): Promise<boolean> {
    if (this.#left === 0) {
      this.isSpent = true
      return false
    }
    this.#left--
    if (performance.now() - this.#since >= this.#turnMs) {
      await nextTurn()
      this.#since = performance.now()
    }
    return true
  }
}
