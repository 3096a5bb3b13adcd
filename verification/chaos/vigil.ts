import { setTimeout as sleep } from 'node:timers/promises'
import type { Time } from '../../packages/checker/src/history.ts'
import type { Recorder } from './recorder.ts'
import type { PreparedStore } from './stores/store.ts'

/** How often a process looks at the clock, and how often the controller asks the store. */
export const VIGIL_MS = 100
/** A stretch is written down when it is this long, so that little is lost with a process that is killed. */
const STRETCH_MS = 1_000

/** Evidence that something was scheduled all the time: stretches without a gap of more than `starvedMs`. */
export interface Vigil {
  /** It was scheduled at this time. */
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
 * Asks the store for a small write and for the time, again and again, until the signal ends it. An answer that takes too long, an
 * error, or a controller that does not get its turn leaves a gap in what this vouches for.
 */
export function watchStore(
  store: Pick<PreparedStore, 'probe' | 'now'>,
  recorder: Recorder,
  { starvedMs, epoch, signal }: { readonly starvedMs: number; readonly epoch: number; readonly signal: AbortSignal },
): Vigil {
  const vigil = createVigil(starvedMs, (at, until) => recorder.add({ kind: 'healthy', at, until, node: null }))
  const checkClock = clockCheck(store, recorder, epoch)
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      const askedAt = recorder.now()
      const isAnswered = await store.probe().then(
        () => true,
        () => false,
      )
      const answeredAt = recorder.now()
      if (isAnswered && answeredAt - askedAt <= starvedMs) vigil.alive(answeredAt)
      if (isAnswered) await checkClock().catch(() => {})
      await sleep(VIGIL_MS)
    }
  }
  void watch()
  return vigil
}

/** The store's clock may be off by this without a word: less than what verdicts allow for. */
const CLOCK_TOLERANCE_MS = 10

/** Records when another program set the store's clock: hosts correct theirs, virtual machines after a pause. */
export function clockCheck(
  { now }: Pick<PreparedStore, 'now'>,
  recorder: Pick<Recorder, 'now' | 'entries' | 'add' | 'log'>,
  epoch: number,
): () => Promise<void> {
  let rightAt = recorder.now()
  const offset = (): number =>
    recorder.entries.reduce((sum, entry) => sum + (entry.kind === 'clock' ? entry.byMs : 0), epoch)
  return async () => {
    const [before, known] = [recorder.now(), offset()]
    const shown = await now()
    const after = recorder.now()
    // Chaos has set it meanwhile.
    if (known !== offset()) return
    const byMs = Math.round(shown - known - (before + after) / 2)
    if (Math.abs(byMs) > CLOCK_TOLERANCE_MS + (after - before) / 2) {
      recorder.log(`the store's clock was set by ${byMs} ms`)
      recorder.add({ kind: 'clock', at: rightAt, until: after, byMs })
    }
    rightAt = before
  }
}
