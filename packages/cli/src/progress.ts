import { formatCount } from './format.ts'
import type { Io } from './io.ts'

const SHOW_FROM = 20

/** `judged 120 of 4,000`, on stderr, over itself, if somebody watches and it is worth watching. */
export class Progress {
  readonly #io: Io
  readonly #verb: string
  readonly #total: number
  readonly #every: number
  #done = 0
  #shown = false

  constructor(io: Io, verb: string, total: number) {
    this.#io = io
    this.#verb = verb
    this.#total = total
    // A hundred times in all: writing is not what the time is for.
    this.#every = Math.max(1, Math.floor(total / 100))
  }

  step(): void {
    this.#done++
    if (!this.#io.isErrTTY || this.#total < SHOW_FROM || this.#done % this.#every !== 0) return
    this.#shown = true
    this.#io.err(`\r\x1b[K${this.#verb} ${formatCount(this.#done)} of ${formatCount(this.#total)}`)
  }

  end(): void {
    if (this.#shown) this.#io.err('\r\x1b[K')
  }
}
