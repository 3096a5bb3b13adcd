import { runFresh } from '../shared/processes.ts'
import { median } from '../shared/statistics.ts'
import { withFile } from './fleet.ts'
import type { StoreKind } from './protocol.ts'

/** `control`: not measured either. How far it is from `without` is the error of the measurement. */
export type Kind = 'without' | 'control' | 'measured'

/** CPU microseconds of the main thread per fire, of three rounds that followed each other; `null`: fires were late, so it does not count. */
export type Round = Readonly<Record<Kind, number | null>>

/** What metrics cost: one app, measured in every third round. */
export interface Overhead {
  readonly store: StoreKind
  readonly rounds: readonly Round[]
}

/** How much more CPU time than without metrics, in percent: the median, and the interval that contains it with 95 % confidence. */
export interface Difference {
  readonly pairs: number
  readonly percent: number
  readonly from: number
  readonly to: number
}

const COUNTS: Readonly<Record<StoreKind, number>> = { memory: 4_000, sqlite: 1_000 }
const PERIOD_MS = 1_600

export async function measureOverhead(store: StoreKind, triples: number): Promise<Overhead> {
  const script = new URL('./metrics-child.ts', import.meta.url)
  const numbers = [COUNTS[store], triples, PERIOD_MS].map(String)
  const rounds = await withFile((file) =>
    runFresh<Round[]>(script, [store === 'memory' ? '' : file, ...numbers], 4_000),
  )
  return { store, rounds }
}

/**
 * By the ratios of rounds that followed each other, because other work on the machine slows down neighbors alike. Their median has an
 * interval by rank, which assumes nothing about how they are distributed.
 */
export function differenceOf({ rounds }: Pick<Overhead, 'rounds'>, kind: 'control' | 'measured'): Difference {
  const ratios = rounds
    .flatMap(({ without, [kind]: other }) => (without === null || other === null ? [] : [other / without]))
    .sort((one, other) => one - other)
  const pairs = ratios.length
  const rank = Math.max(0, Math.floor(pairs / 2 - 0.98 * Math.sqrt(pairs)) - 1)
  const percent = (ratio: number | undefined): number => ((ratio ?? Number.NaN) - 1) * 100
  return {
    pairs,
    percent: percent(median(ratios)),
    from: percent(ratios[rank]),
    to: percent(ratios[pairs - 1 - rank]),
  }
}
