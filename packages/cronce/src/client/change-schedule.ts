import { didYouMean } from '../did-you-mean.ts'
import { CronceError } from '../errors.ts'
import { SLOT_PREFIX } from '../model/exclusive-jobs.ts'
import { hostName } from '../model/placement.ts'
import type { FireRecord } from '../model/record.ts'
import type { ScheduleState } from '../model/schedule.ts'
import type { Context, Decision, Refusal } from '../policy/decision.ts'
import { advance } from '../policy/plan/advance.ts'
import { nextBackfillStretch } from '../policy/plan/backfill.ts'
import { changeSchedules, type Changed as DoneChange, type ScheduleAccess } from '../store/change-schedules.ts'
import type { InTransaction } from '../store/store.ts'
import { type Act, withActivity } from './activity.ts'
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

export interface ChangeOptions<Tx> extends InTransaction<Tx> {
  /** For the operator log. Absent: the change is not an action of a person, or part of one that is logged. */
  readonly act?: Act | undefined
}

/** A failed try means that another process has changed the schedule, or locks it. All of them together take some seconds. */
const TRIES = 50

/** Reads, decides and writes; and once more if the schedule has changed in between. */
export async function changeAny<Tx>(
  parts: ClientParts<Tx>,
  id: string,
  decide: DecideOnAny,
  { tx, act }: ChangeOptions<Tx> = {},
): Promise<Changed> {
  const { clock, random } = parts.context()
  const inTheWay: FireRecord[] = []
  let step: Decision | null = null
  const access: ScheduleAccess = {
    ...{ clock, random, mostTries: TRIES },
    load: (ids) => readStore('load a schedule', () => parts.store.load(ids, { tx })),
    context: (loaded) => contextAt(parts, loaded),
    apply: (changes) => writeStore('write a change', () => parts.store.apply(changes, { tx, wake: true })),
    applied: (decision) => announce(parts, decision, tx),
    isAgain(decision, result) {
      if (result.kind === 'applied') return decision === step
      if (result.kind !== 'exists') return true
      if (result.fire.nonce !== '') return false
      inTheWay.push(result.fire)
      return true
    },
  }
  const done = await changeSchedules(access, [id], async (_, state, context) => {
    step = passOver(state, context, inTheWay)
    if (step !== null) return step
    const decision = await decide(state, context)
    if (decision === null) return null
    if ('refused' in decision) throw refusalError(decision)
    return withActivity(parts, act, state, decision, context.now)
  })
  return changedOf(done.get(id)!)
}

function changedOf(done: DoneChange): Changed {
  if (done.kind === 'unchanged') return done
  if (done.kind === 'applied') return { kind: 'changed', state: done.decision.change.state, decision: done.decision }
  if (done.result.kind === 'exists') return { kind: 'exists', fire: done.result.fire }
  throw new Error(`A change that the store refused as ${done.result.kind} is decided again.`)
}

/** The same for a schedule that must exist. */
export async function changeSchedule<Tx>(
  parts: ClientParts<Tx>,
  id: string,
  decide: Decide,
  options: ChangeOptions<Tx> = {},
): Promise<Changed> {
  return changeAny(
    parts,
    id,
    async (state, context) => {
      if (state === null) throw await scheduleNotFound(parts, id)
      const decision = await decide(state, context)
      return decision !== null && 'refused' in decision ? namingHosts(parts, id, decision) : decision
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

/** No events for a change in the caller's transaction: it may never commit. */
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

const HOSTS_SHOWN = 3

function eachHostHint(job: string, names: readonly string[]): string {
  const more = names.length > HOSTS_SHOWN ? ', …' : ''
  return `The job has one schedule on each host: ${names.slice(0, HOSTS_SHOWN).join(', ')}${more}. Name one; on the command line, '${hostName(job, '*')}' is all of them.`
}

/** If the job of a retired schedule goes on with `hosts: 'each'`, the hint names the schedules of the hosts. */
async function namingHosts<Tx>({ store }: ClientParts<Tx>, id: string, refusal: Refusal): Promise<Refusal> {
  if (refusal.refused !== 'SCHEDULE_RETIRED') return refusal
  const query = { prefix: hostName(id, ''), limit: CANDIDATES, after: null }
  const { items } = await readStore('list schedules', () => store.listSchedules(query))
  const names = items.filter(({ retiredAt }) => retiredAt === null).map((state) => state.id)
  return names.length === 0 ? refusal : { ...refusal, hint: eachHostHint(id, names) }
}

function nearestHint(meant: string | undefined): string {
  if (meant !== undefined) return `Did you mean ${meant}?`
  return 'List the schedules to see their names; those of jobs are made when an app that declares them has started.'
}

export async function scheduleNotFound<Tx>({ store }: ClientParts<Tx>, id: string): Promise<CronceError> {
  const task = SLOT_PREFIX + id
  const loaded = await readStore('load schedule', () => store.load([task]))
  if (loaded.schedules[0] !== null && loaded.schedules[0] !== undefined) {
    const message = `There is no schedule ${JSON.stringify(id)}; there is ${task}.`
    return new CronceError('SCHEDULE_NOT_FOUND', message, { hint: `Write ${task}: it is a task of node-cron.` })
  }
  // Most slips are not in the first two characters. By code points: half a character is not a prefix.
  const prefix = [...id].slice(0, 2).join('')
  const query = { prefix, limit: CANDIDATES, after: null }
  const { items } = await readStore('list schedules', () => store.listSchedules(query))
  const names = items.map((state) => state.id)
  const onHosts = names.filter((name) => name.startsWith(hostName(id, '')))
  const hint = onHosts.length > 0 ? eachHostHint(id, onHosts) : nearestHint(didYouMean(id, names))
  return new CronceError('SCHEDULE_NOT_FOUND', `There is no schedule ${JSON.stringify(id)}.`, { hint })
}
