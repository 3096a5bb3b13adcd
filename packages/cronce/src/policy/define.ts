import { policyOf } from '../model/policy.ts'
import type { Definition, Instant, ScheduleState, Source } from '../model/schedule.ts'
import type { Context, Decision, Refusal } from './decision.ts'
import { begin, type Draft, finish, set } from './draft.ts'
import { isEqual } from './equal.ts'
import { aboutSchedule } from './records.ts'
import { shortestKeepMs } from './retention.ts'
import { markOf, nextOf, nextUnskipped, seriesOf, zoneDataOf } from './series.ts'
import { planUpToNow, settleUpToNow } from './up-to-now.ts'

export interface DefineWish {
  readonly definition: Definition
  readonly source: Source
}

/** Make a schedule what somebody wrote down. `null`: it is that already. */
export function define(
  state: ScheduleState | null,
  id: string,
  wanted: DefineWish,
  context: Context,
): Decision | Refusal | null {
  const isPast = isOver(id, wanted, context.now)
  if (state === null) return isPast ? refusePast(id) : create(id, wanted, context)
  const refusal = refuseSource(state, wanted.source) ?? refuseJob(state, wanted.definition)
  if (refusal !== null) return refusal
  const isSame = isEqual(state.definition, wanted.definition) && state.retiredAt === null
  const isMoved = !hasSameTiming(state.definition, wanted.definition)
  if (isMoved && isPast) return refusePast(id)
  if (!isSame) return change(state, wanted, context)
  if (isEqual(state.source, wanted.source)) return null
  const draft = begin(state, context)
  set(draft, { source: wanted.source })
  return finish(draft)
}

/** Of a client's own making, for one instant that has passed: it would be gone at once, without a word. */
function isOver(id: string, { definition, source }: DefineWish, now: Instant): boolean {
  const isOnce = source.kind === 'client' && definition.trigger?.kind === 'at'
  return isOnce && seriesOf(id, definition).next(now - 1) === null
}

function refusePast(id: string): Refusal {
  return {
    refused: 'INSTANT_PAST',
    message: `The instant of the schedule ${id} has passed, or is outside of its start and end.`,
    hint: 'Choose a later instant, or trigger the job now.',
  }
}

/** Nothing is made up for: the first instant is the first one that is not over. */
function create(id: string, { definition, source }: DefineWish, context: Context): Decision {
  const { now } = context
  const plannedTo = now - 1
  const nextAt = nextOf(seriesOf(id, definition), definition, 0, plannedTo)
  const draft = begin(
    {
      ...{ id, version: 0, definition, revision: 1, source, createdAt: now, updatedAt: now },
      ...{ pause: null, retiredAt: null, nextAt, plannedTo, zoneData: zoneDataOf(definition, context.zoneData) },
      ...{ wakeAt: null, tokens: 0, fired: 0, ended: 0, trimmedBefore: null, failedInRow: 0 },
      ...{ last: { dueAt: null, succeededDueAt: null, succeededAt: null }, open: [], backfills: [] },
    },
    context,
  )
  draft.events.push({ type: 'schedule.created', ...aboutSchedule(draft) })
  return finish(draft)
}

/** First everything up to now under the old rule, then the new one from now on. */
function change(state: ScheduleState, wanted: DefineWish, context: Context): Decision | Refusal {
  const draft = begin(state, context)
  const isMoved = !hasSameTiming(state.definition, wanted.definition)
  if (!settleOldRule(draft, isMoved)) {
    return {
      refused: 'SCHEDULE_BEHIND',
      message: `The schedule ${state.id} has more than a million instants to catch up with.`,
      hint: 'Let an instance catch up, then try again.',
    }
  }
  keepOwn(draft, state.definition, wanted.definition)
  const { now, zoneData } = context
  const { definition, source } = wanted
  const wasRetired = state.retiredAt !== null
  set(draft, {
    ...{ definition, source, revision: state.revision + 1, updatedAt: now, retiredAt: null },
    trimmedBefore: trimmedAfter(state, definition, now),
  })
  const hadReached = markOf(draft.state)
  if (isMoved || wasRetired) {
    const plannedTo = isMoved ? now : Math.max(hadReached, now)
    const nextAt = nextUnskipped(draft.state, seriesOf(state.id, definition), plannedTo)
    set(draft, { plannedTo, nextAt, zoneData: zoneDataOf(definition, zoneData) })
  }
  draft.events.push({ type: 'schedule.changed', ...aboutSchedule(draft) })
  return finish(draft)
}

function settleOldRule(draft: Draft, isMoved: boolean): boolean {
  const { pause } = draft.state
  // The stretch of the pause stays as it is while the instants do; else it is settled as the pause would end by itself.
  return isMoved && pause !== null ? settleUpToNow(draft, pause.missed) : planUpToNow(draft)
}

function hasSameTiming(a: Definition, b: Definition): boolean {
  const isSame = isEqual(a.trigger, b.trigger) && a.start === b.start && a.end === b.end
  return isSame && a.limit === b.limit
}

/** What is open keeps what it was planned with. */
function keepOwn(draft: Draft, old: Definition, wanted: Definition): void {
  if (old.tenant !== wanted.tenant) {
    draft.open = draft.open.map((fire) => (fire.tenant === undefined ? { ...fire, tenant: old.tenant } : fire))
  }
  if (isEqual(old.input, wanted.input) && isEqual(old.policy, wanted.policy)) return
  const own = { input: old.input, policy: old.policy }
  draft.open = draft.open.map((fire) => (fire.own === null ? { ...fire, own } : fire))
}

/** Records written under a shorter retention go earlier than the new one says. */
function trimmedAfter(state: ScheduleState, wanted: Definition, now: Instant): Instant | null {
  const isLonger = shortestKeepMs(policyOf(wanted.policy)) > shortestKeepMs(policyOf(state.definition.policy))
  return isLonger ? Math.max(state.trimmedBefore ?? now, now) : state.trimmedBefore
}

function refuseSource({ id, source, retiredAt }: ScheduleState, wanted: Source): Refusal | null {
  if (source.kind === 'client') {
    return wanted.kind === 'client' ? null : taken(id, 'made by a client')
  }
  if (wanted.kind === 'client') {
    return {
      refused: 'SCHEDULE_IN_CODE',
      message: `The schedule ${id} is declared in the code of ${source.app}.`,
      hint: 'Change the code, or choose another name.',
    }
  }
  // What an app has given up, another one may take.
  if (source.app !== wanted.app) return retiredAt === null ? taken(id, `declared by the app ${source.app}`) : null
  if (wanted.term >= source.term) return null
  return {
    refused: 'DEPLOYMENT_SUPERSEDED',
    message: `A newer deployment of ${source.app} declared the schedule ${id}.`,
    hint: 'Nothing is to be done: what the active deployment declares counts.',
  }
}

function taken(id: string, by: string): Refusal {
  return {
    refused: 'SCHEDULE_NAME_TAKEN',
    message: `There is a schedule ${id} already, ${by}.`,
    hint: 'Choose another name, or remove that one.',
  }
}

/** Open fires belong to the job that they were planned for: only its instances know what to do with them. */
function refuseJob({ id, definition, open }: ScheduleState, wanted: Definition): Refusal | null {
  if (definition.job === wanted.job || open.length === 0) return null
  return {
    refused: 'SCHEDULE_BUSY',
    message: `The schedule ${id} can't get another job while fires of ${definition.job} are open.`,
    hint: 'Wait until they have ended, or cancel them.',
  }
}
