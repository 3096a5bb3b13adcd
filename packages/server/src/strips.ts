import type { FireView, RunView } from 'cronce'
import { quantile } from './quantile.ts'
import type { Source } from './source.ts'

/** Schedules that are read at the same time, so that one request does not use all connections of a store. */
const AT_A_TIME = 5

export interface Strip {
  readonly schedule: string
  /** The median duration of the runs that succeeded; `null`: there are none. */
  readonly usualMs: number | null
  readonly fires: readonly StripFire[]
}

type StripFire = Pick<FireView, 'dueAt' | 'nonce' | 'state' | 'reason' | 'attempt'> & {
  readonly durationMs: number | null
  readonly latenessMs: number | null
  /** The due times that it stands for. */
  readonly count: number
}

export async function stripsOf(source: Source, names: readonly string[], limit: number): Promise<readonly Strip[]> {
  const strips: Strip[] = []
  for (let index = 0; index < names.length; index += AT_A_TIME) {
    const some = names.slice(index, index + AT_A_TIME)
    strips.push(...(await Promise.all(some.map((schedule) => stripOf(source, schedule, limit)))))
  }
  return strips
}

async function stripOf(source: Source, schedule: string, limit: number): Promise<Strip> {
  const [fires, runs] = await Promise.all([
    source.fires.list({ schedule, limit }),
    source.runs.list({ schedule, limit }),
  ])
  const latest = new Map<string, RunView>()
  // The latest run of a fire comes first.
  for (const run of runs.items) if (!latest.has(keyOf(run))) latest.set(keyOf(run), run)
  const durations = runs.items.flatMap(({ state, durationMs }) =>
    state === 'succeeded' && durationMs !== null ? [durationMs] : [],
  )
  return {
    schedule,
    usualMs: quantile(durations, 0.5),
    fires: fires.items.map((fire) => stripFire(fire, latest.get(keyOf(fire)))),
  }
}

function stripFire({ dueAt, nonce, state, reason, attempt, range }: FireView, run: RunView | undefined): StripFire {
  const { durationMs = null, latenessMs = null } = run ?? {}
  return { dueAt, nonce, state, reason, attempt, durationMs, latenessMs, count: range?.count ?? 1 }
}

function keyOf({ dueAt, nonce }: Pick<FireView, 'dueAt' | 'nonce'>): string {
  return `${dueAt} ${nonce}`
}
