import { setTimeout as sleep } from 'node:timers/promises'
import type { Time } from '../../packages/checker/src/history.ts'
import type { Recorder } from './recorder.ts'
import type { PreparedStore } from './stores/store.ts'

/** How often a process looks at the clock, and how often the controller asks the store. */
export const VIGIL_MS = 100
/** A stretch is written down when it is this long, so that little is lost with a process that is killed. */
const STRETCH_MS = 1_000

/** Evidence that something had its turn all the time: stretches without a gap of more than `starvedMs`. */
export interface Vigil {
  /** It had its turn at this time. */
  alive(at: Time): void
  /** Write down what is not written yet. */
  flush(): void
}

export function createVigil(starvedMs: number, vouch: (at: Time, until: Time) => void): Vigil {
  let stretch: { readonly from: Time; until: Time } | null = null
  const flush = (): void => {
    if (stretch === null || stretch.until === stretch.from) return
    vouch(stretch.from, stretch.until)
    stretch = { from: stretch.until, until: stretch.until }
  }
  return {
    flush,
    alive(at) {
      if (stretch === null || at - stretch.until > starvedMs) {
        flush()
        stretch = { from: at, until: at }
      }
      stretch.until = at
      if (at - stretch.from >= STRETCH_MS) flush()
    },
  }
}

/**
 * Asks the store for a small write again and again, until the signal ends it. An answer that takes too long, an error, or a
 * controller that does not get its turn leaves a gap in what this vouches for.
 */
export function watchStore(
  { probe }: Pick<PreparedStore, 'probe'>,
  recorder: Recorder,
  starvedMs: number,
  signal: AbortSignal,
): Vigil {
  const vigil = createVigil(starvedMs, (at, until) => recorder.add({ kind: 'healthy', at, until, node: null }))
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      const askedAt = recorder.now()
      const isAnswered = await probe().then(
        () => true,
        () => false,
      )
      const answeredAt = recorder.now()
      if (isAnswered && answeredAt - askedAt <= starvedMs) vigil.alive(answeredAt)
      await sleep(VIGIL_MS)
    }
  }
  void watch()
  return vigil
}
