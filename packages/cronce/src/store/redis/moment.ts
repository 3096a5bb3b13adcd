import type { Instant } from '../../model/schedule.ts'
import type { Link, Script } from './link.ts'

/** What a script answered: the store's time, and the lines. */
export interface Answer {
  readonly now: Instant
  readonly epoch: number
  readonly lines: readonly string[]
}

interface Mark {
  readonly epoch: number
  /** The server that began the epoch: two that were apart may have come to the same number. */
  readonly run: string
  readonly mark: number
}

/**
 * Asks the store, and remembers how much of its history it has seen: a store that went back in time is found out by that. See
 * `scripts/moment.ts`.
 */
export class Asker {
  readonly #link: Link
  readonly #key: string
  readonly #suffix: string
  readonly #onMove: () => void
  #seen: Mark = { epoch: 0, run: '', mark: 0 }
  /** As it was seen last before the epoch moved, until somebody has compared. */
  #before: Mark | null = null
  #lostIn = 0

  constructor(link: Link, key: string, { waits, onMove }: { readonly waits: boolean; readonly onMove: () => void }) {
    this.#link = link
    this.#key = key
    this.#suffix = waits ? 'w' : ''
    this.#onMove = onMove
  }

  get epoch(): number {
    return this.#seen.epoch
  }

  async ask(script: Script, args: readonly string[]): Promise<Answer> {
    const { epoch, run } = this.#seen
    const text = await this.#link.run(script, this.#key, [`${epoch}:${run}:${this.#suffix}`, ...args])
    const end = text.indexOf('\n')
    const [now, epochNow, mark, runNow] = text.slice(0, end).split(' ') as [string, string, string, string]
    this.#see({ epoch: Number(epochNow), run: runNow, mark: Number(mark) })
    const rest = text.slice(end + 1)
    return { now: Number(now), epoch: Number(epochNow), lines: rest === '' ? [] : rest.split('\n') }
  }

  /** Whether anything that was seen is gone in this epoch. `bases` are the marks at which the last epochs began. */
  isLost(bases: string): boolean {
    const before = this.#before
    if (before !== null) {
      if (bases.split(' ').some((base) => isBehind(base, before))) this.#lostIn = this.#seen.epoch
      this.#before = null
    }
    return this.#lostIn === this.#seen.epoch
  }

  #see(seen: Mark): void {
    const { epoch, mark } = this.#seen
    if (seen.epoch > epoch) {
      if (epoch > 0) {
        this.#before ??= this.#seen
        this.#onMove()
      }
      this.#seen = seen
    } else if (seen.epoch === epoch && seen.mark > mark) this.#seen = seen
  }
}

function isBehind(base: string, seen: Mark): boolean {
  const [epoch, mark, run] = base.split(':')
  return Number(epoch) === seen.epoch ? run !== seen.run : Number(epoch) > seen.epoch && Number(mark) < seen.mark
}
