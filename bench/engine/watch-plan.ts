import { runFresh } from '../shared/processes.ts'
import { withFile } from './fleet.ts'
import type { StoreKind } from './protocol.ts'

/** What one look of the watchdog asked of the store: it looks once a minute. */
export interface Look {
  readonly calls: number
  readonly rows: number
  /** In those calls. */
  readonly ms: number
}

/** What the watchdog costs while nothing is wrong. */
export interface Watching {
  readonly store: StoreKind
  readonly schedules: number
  readonly looks: readonly Look[]
}

export async function measureWatching(store: StoreKind, schedules: number, looks: number): Promise<Watching> {
  const script = new URL('./watch-child.ts', import.meta.url)
  const found = await withFile((file) =>
    runFresh<Look[]>(script, [store === 'memory' ? '' : file, String(schedules), String(looks)], 4_000),
  )
  return { store, schedules, looks: found }
}

/** Calls in all looks, to one look. */
export function callsPerLook({ looks }: Watching): number {
  return looks.reduce((sum, { calls }) => sum + calls, 0) / looks.length
}

export function mostRows({ looks }: Watching): number {
  return Math.max(...looks.map(({ rows }) => rows))
}
