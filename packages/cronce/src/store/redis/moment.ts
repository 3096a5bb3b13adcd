import type { Instant } from '../../model/schedule.ts'
import type { Link, Script } from './link.ts'

/** The answer of a script: the store's time, and the lines. */
export interface Answer {
  readonly now: Instant
  readonly epoch: number
  readonly lines: readonly string[]
}

export type AskScript = (script: Script, args: readonly string[]) => Promise<Answer>

/** How many are kept: see `lua/moment.lua`. */
const BASES = 16

interface Mark {
  readonly epoch: number
  /** The process and the promotion of the server that began the epoch: two histories may have reached the same number. */
  readonly run: string
  readonly mark: number
}

/**
 * Sends requests, and remembers how much of the store's history it has seen, which reveals a store that went back in time. See
 * `lua/moment.lua`.
 */
export class Asker {
  readonly #link: Link
  readonly #key: string
  readonly #suffix: string
  readonly #onMove: () => void
  #seen: Mark = { epoch: 0, run: '', mark: 0 }
  /** The last position that was seen before each move of the epoch, until it is compared. */
  #before: readonly Mark[] = []
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
    const { epoch, run, mark } = this.#seen
    // `concat` copies thousands of texts at once; a spread after another element copies one by one.
    const answer = await this.#link.run(script, this.#key, [`${epoch}:${run}:${mark}:${this.#suffix}`].concat(args))
    const lines = [...answer]
    const [now, epochNow, markNow, runNow] = lines.pop()!.split(' ') as [string, string, string, string]
    this.#see({ epoch: Number(epochNow), run: runNow, mark: Number(markNow) })
    return { now: Number(now), epoch: Number(epochNow), lines }
  }

  /** Whether anything that was seen was lost when this epoch began. `bases` are the marks at which the last epochs began. */
  isLost(bases: string, epoch: number): boolean {
    const history = bases.split(' ')
    if (this.#before.some((seen) => seen.epoch < epoch && isMissing(history, seen))) this.#lostIn = epoch
    this.#before = this.#before.filter((seen) => seen.epoch >= epoch)
    return this.#lostIn === epoch
  }

  #see(seen: Mark): void {
    const { epoch, mark } = this.#seen
    if (seen.epoch > epoch) {
      if (epoch > 0) {
        this.#before = [...this.#before, this.#seen]
        this.#onMove()
      }
      this.#seen = seen
    } else if (seen.epoch === epoch && seen.mark > mark) this.#seen = seen
  }
}

/**
 * What was seen is in a history only if its epoch is, and no later epoch began below it. The beginning of a long history is not
 * known.
 */
function isMissing(bases: readonly string[], seen: Mark): boolean {
  const history = bases.map((base) => {
    const [epoch, mark, run] = base.split(':')
    return { epoch: Number(epoch), mark: Number(mark), run }
  })
  const isOlder = history.length >= BASES && seen.epoch < history[0]!.epoch
  const isThere = history.some(({ epoch, run }) => epoch === seen.epoch && run === seen.run)
  return !(isOlder || isThere) || history.some(({ epoch, mark }) => epoch > seen.epoch && mark < seen.mark)
}
