import { median } from '../shared/statistics.ts'
import { type Burst, measureBurst } from './burst-plan.ts'
import type { FleetOptions } from './fleet.ts'

/** What metrics cost: bursts with and without them, in turn. */
export interface Overhead {
  readonly options: FleetOptions
  readonly pairs: readonly { readonly without: Burst; readonly measured: Burst }[]
}

export async function measureOverhead(
  options: FleetOptions,
  count: number,
  pairs: number,
  progress: (text: string) => void,
): Promise<Overhead> {
  const done: { without: Burst; measured: Burst }[] = []
  for (let pair = 0; pair < pairs; pair++) {
    // Who is first takes turns, so that what else the machine does hits both alike.
    const first = await measureBurst({ ...options, ends: pair % 2 === 0 ? 'store' : 'metrics' }, count)
    const second = await measureBurst({ ...options, ends: pair % 2 === 0 ? 'metrics' : 'store' }, count)
    done.push(pair % 2 === 0 ? { without: first, measured: second } : { without: second, measured: first })
    progress(
      `metrics, ${options.store}: ${costsOf(done.at(-1)!)
        .map((us) => us.toFixed(2))
        .join(' and ')} µs per fire`,
    )
  }
  return { options, pairs: done }
}

/** CPU microseconds of the main thread per fire, without and with metrics. */
export function costsOf({
  without,
  measured,
}: Overhead['pairs'][number]): readonly [without: number, measured: number] {
  return [without.mainMsPerFire * 1000, measured.mainMsPerFire * 1000]
}

/** The part of the CPU time per fire that metrics add, in percent: of the medians, since single rounds differ by more than that. */
export function overheadPercent({ pairs }: Overhead): number {
  const costs = pairs.map(costsOf)
  const without = median(costs.map(([one]) => one))
  return (median(costs.map(([, one]) => one)) / without - 1) * 100
}
