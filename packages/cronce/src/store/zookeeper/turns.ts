/** One task at a time. Those that are urgent come before those that are not. */
export class Turns {
  readonly #urgent: (() => void)[] = []
  readonly #others: (() => void)[] = []
  #isTaken = false

  async run<Result>(isUrgent: boolean, task: () => Promise<Result>): Promise<Result> {
    if (this.#isTaken) await new Promise<void>((resolve) => (isUrgent ? this.#urgent : this.#others).push(resolve))
    this.#isTaken = true
    try {
      return await task()
    } finally {
      const next = this.#urgent.shift() ?? this.#others.shift()
      // The turn is handed over directly, so that no other caller gets it in between.
      if (next === undefined) this.#isTaken = false
      else next()
    }
  }
}
