interface Noted {
  readonly holds: boolean
  readonly since: number
}

/** How long each of several conditions has held without interruption, by this process's monotonic clock. */
export class StateClock {
  readonly #mono: () => number
  readonly #known = new Map<string, Noted>()

  constructor(mono: () => number) {
    this.#mono = mono
  }

  /** Notes whether the condition holds now. A condition that is not noted any more is forgotten by `keepOnly`. */
  note(key: string, holds: boolean): void {
    if (this.#known.get(key)?.holds !== holds) this.#known.set(key, { holds, since: this.#mono() })
  }

  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#known.keys()) if (!keys.has(key)) this.#known.delete(key)
  }

  /** Keys whose condition has held (or not held) for this long. */
  heldFor(ms: number, holds: boolean): ReadonlySet<string> {
    const now = this.#mono()
    const isOld = (at: Noted): boolean => at.holds === holds && now - at.since >= ms
    return new Set([...this.#known].filter(([, at]) => isOld(at)).map(([key]) => key))
  }

  /** Time until `heldFor` would name another key; `Infinity`: only after a change. */
  untilNextMs(ms: number): number {
    const now = this.#mono()
    const left = [...this.#known.values()].map(({ since }) => since + ms - now).filter((leftMs) => leftMs > 0)
    return Math.min(Number.POSITIVE_INFINITY, ...left)
  }

  /** The observer could not look for a while, so it knows nothing about the time in between. */
  restart(): void {
    for (const [key, { holds }] of this.#known) this.#known.set(key, { holds, since: this.#mono() })
  }
}
