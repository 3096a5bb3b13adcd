import { runFresh } from '../shared/processes.ts'
import { quantile } from '../shared/statistics.ts'
import { withFile } from './fleet.ts'
import type { StoreKind } from './protocol.ts'

/** CPU microseconds of the main thread per fire, of each round. */
export interface Rounds {
  readonly without: number[]
  readonly measured: number[]
  /** Rounds in which not every fire ran in its own period: they are left out. */
  incomplete: number
}

/** What metrics cost: two apps in one process, of which one is measured, in turn. */
export interface Overhead extends Rounds {
  readonly store: StoreKind
}

const COUNTS: Readonly<Record<StoreKind, number>> = { memory: 8_000, sqlite: 2_000 }
const PERIOD_MS = 4_000

export async function measureOverhead(store: StoreKind, rounds: number): Promise<Overhead> {
  const script = new URL('./metrics-child.ts', import.meta.url)
  const numbers = [COUNTS[store], rounds, PERIOD_MS].map(String)
  const measured = await withFile((file) =>
    runFresh<Rounds>(script, [store === 'memory' ? '' : file, ...numbers], 4_000),
  )
  return { store, ...measured }
}

/**
 * Other work on the machine only adds time to a round, so the faster quarter of the rounds shows what the code costs.
 */
export function costOf(rounds: readonly number[]): number {
  return quantile(rounds, 0.25)
}

/** The part of the CPU time per fire that metrics add, in percent. */
export function overheadPercent({ without, measured }: Rounds): number {
  return (costOf(measured) / costOf(without) - 1) * 100
}
