import { didYouMean } from '../did-you-mean.ts'
import { CronceError } from '../errors.ts'
import type { FireRecord } from '../model/record.ts'
import type { ScheduleState } from '../model/schedule.ts'
import { contention, pauseAmong } from '../policy/contention.ts'
import type { Context, Decision, Refusal } from '../policy/decision.ts'
import { advance } from '../policy/plan/advance.ts'
import { nextBackfillStretch } from '../policy/plan/backfill.ts'
import type { InTransaction } from '../store/store.ts'
import { readStore, writeStore } from './ask-store.ts'
import { type ClientParts, contextAt } from './parts.ts'

export type Decide = (
  state: ScheduleState,
  context: Context,
) => Decision | Refusal | null | Promise<Decision | Refusal | null>

export type DecideOnAny = (
  state: ScheduleState | null,
  context: Context,
) => Decision | Refusal | null | Promise<Decision | Refusal | null>

export type Changed =
  | { readonly kind: 'changed'; readonly state: ScheduleState | null; readonly decision: Decision }
  | { readonly kind: 'unchanged'; readonly state: ScheduleState | null }
  /** A fire that was to be created is on record. */
  | { readonly kind: 'exists'; readonly fire: FireRecord }

/** Each try that fails means that somebody else succeeded, or is at it: so many, some seconds in all, and something is wrong. */
const TRIES = 50

/** Look, decide, write what was decided if nothing has changed since; else look again. */
export async function changeAny<Tx>(
  parts: ClientParts<Tx>,
  id: string,
  decide: DecideOnAny,
  { tx }: InTransaction<Tx> = {},
): Promise<Changed> {
  const inTheWay: FireRecord[] = []
  for (let tries = 0; tries < TRIES; tries++) {
    await pauseBefore(parts, tries)
    const loaded = await readStore('load a schedule', () => parts.store.load([id], { tx }))
    const state = loaded.schedules[0] ?? null
    const context = contextAt(parts, loaded)
    const step = passOver(state, context, inTheWay)
    const decision = step ?? (await decide(state, context))
    if (decision === null) return { kind: 'unchanged', state }
    if ('refused' in decision) throw refusalError(decision)
    const { results } = await writeStore('write a change', () =>
      parts.store.apply([decision.change], { tx, wake: true }),
    )
    const result = results[0]!
    if (result.kind === 'applied') {
      announce(parts, decision, tx)
      if (step !== null) continue
      return { kind: 'changed', state: decision.change.state, decision }
    }
    if (result.kind !== 'exists') continue
    if (result.fire.nonce !== '') return { kind: 'exists', fire: result.fire }
    inTheWay.push(result.fire)
  }
  throw contention(id, TRIES)
}

async function pauseBefore<Tx>({ context }: ClientParts<Tx>, tries: number): Promise<void> {
  const { clock, random } = context()
  const pauseMs = pauseAmong(tries, random)
  if (pauseMs > 0) await clock.pause(pauseMs)
}

/** The same for a schedule that must exist. */
export async function changeSchedule<Tx>(
  parts: ClientParts<Tx>,
  id: string,
  decide: Decide,
  options: InTransaction<Tx> = {},
): Promise<Changed> {
  return changeAny(
    parts,
    id,
    async (state, context) => {
      if (state === null) throw await scheduleNotFound(parts, id)
      return decide(state, context)
    },
    options,
  )
}

/**
 * Many a change settles the instants up to now first. One that is on record, left by an earlier schedule of the same name, is
 * passed over as an instance would do it, then the change has its turn. While a backfill goes on that is left to an instance,
 * which knows the records of its stretch.
 */
function passOver(state: ScheduleState | null, context: Context, inTheWay: readonly FireRecord[]): Decision | null {
  if (state === null || inTheWay.length === 0 || nextBackfillStretch(state) !== null) return null
  return advance(state, context, null, inTheWay)
}

/** In somebody's own transaction nothing has happened yet, and perhaps never will: nothing is told. */
export function announce<Tx>(parts: ClientParts<Tx>, decision: Decision, tx: Tx | undefined): void {
  if (tx !== undefined) return
  parts.applied?.(decision)
  for (const event of decision.events) parts.emit(event)
}

export function refusalError({ refused, message, hint }: Refusal): CronceError {
  return new CronceError(refused, message, { hint })
}

/** How many names are looked through for the one that was meant. */
const CANDIDATES = 200

export async function scheduleNotFound<Tx>({ store }: ClientParts<Tx>, id: string): Promise<CronceError> {
  // Most slips are not in the first two characters. By code points: half a character is no prefix.
  const prefix = [...id].slice(0, 2).join('')
  const query = { prefix, limit: CANDIDATES, after: null }
  const { items } = await readStore('list schedules', () => store.listSchedules(query))
  const meant = didYouMean(
    id,
    items.map((state) => state.id),
  )
  const hint =
    meant === undefined
      ? 'List the schedules to see their names; those of jobs are made when an app that declares them has started.'
      : `Did you mean ${meant}?`
  return new CronceError('SCHEDULE_NOT_FOUND', `There is no schedule ${JSON.stringify(id)}.`, { hint })
}
