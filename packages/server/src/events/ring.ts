/** Something that was told, ready to be sent. */
export interface Told {
  readonly kind: 'run.started' | 'run.ended' | 'fire.ended' | 'reset'
  /** JSON on one line. */
  readonly data: string
  /** What it is about; `null`: all listeners. */
  readonly schedule: string | null
  readonly job: string | null
}

/** The latest entries, by number. */
export class Ring {
  readonly #size: number
  readonly #entries: Told[] = []
  #end = 0

  constructor(size: number) {
    this.#size = size
  }

  /** The number of the next entry. */
  get end(): number {
    return this.#end
  }

  /** The number of the oldest entry that is still there. */
  get start(): number {
    return Math.max(0, this.#end - this.#size)
  }

  push(entry: Told): void {
    this.#entries[this.#end % this.#size] = entry
    this.#end++
  }

  /** `undefined`: it is gone, or yet to come. */
  at(number: number): Told | undefined {
    return number >= this.start && number < this.#end ? this.#entries[number % this.#size] : undefined
  }
}
