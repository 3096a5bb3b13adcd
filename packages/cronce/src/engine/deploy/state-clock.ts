/** How long each of several conditions has held without interruption, by this process's monotonic clock. */
export interface StateClock {
  /** Whether the condition holds now. A condition that is not noted any more is forgotten by `keepOnly`. */
  note(key: string, holds: boolean): void
  keepOnly(keys: ReadonlySet<string>): void
  /** Keys whose condition has held (or not held) for this long. */
  heldFor(ms: number, holds: boolean): ReadonlySet<string>
  /** Until `heldFor` would name another key; `Infinity`: only after a change. */
  untilNextMs(ms: number): number
  /** The observer could not look for a while, so it knows nothing about the time in between. */
  restart(): void
}

export function stateClock(mono: () => number): StateClock {
  const known = new Map<string, { readonly holds: boolean; readonly since: number }>()
  return {
    note(key, holds) {
      if (known.get(key)?.holds !== holds) known.set(key, { holds, since: mono() })
    },
    keepOnly(keys) {
      for (const key of known.keys()) if (!keys.has(key)) known.delete(key)
    },
    heldFor(ms, holds) {
      const now = mono()
      const isOld = (at: { readonly holds: boolean; readonly since: number }): boolean =>
        at.holds === holds && now - at.since >= ms
      return new Set([...known].filter(([, at]) => isOld(at)).map(([key]) => key))
    },
    untilNextMs(ms) {
      const now = mono()
      const left = [...known.values()].map(({ since }) => since + ms - now).filter((leftMs) => leftMs > 0)
      return Math.min(Number.POSITIVE_INFINITY, ...left)
    },
    restart() {
      for (const [key, { holds }] of known) known.set(key, { holds, since: mono() })
    },
  }
}
