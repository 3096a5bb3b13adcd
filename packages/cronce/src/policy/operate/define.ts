import type { AppRecord, DeploymentRecord } from '../../model/app.ts'
import { ending } from '../../model/outcome.ts'
import { plainJob } from '../../model/placement.ts'
import { policyOf } from '../../model/policy.ts'
import type { FireRecord } from '../../model/record.ts'
import type { Definition, Instant, Retirement, ScheduleState, Source } from '../../model/schedule.ts'
import { MAX_STEPS } from '../bounds.ts'
import type { Context, Decision, Refusal } from '../decision.ts'
import {
  continueJob,
  hasSameInstants,
  hasSameTiming,
  isOldName,
  stretchBefore,
  turnAfter,
} from '../deploy/continue-job.ts'
import {
  findDeployment,
  hasOtherForm,
  hasSchedule,
  highestOf,
  newestExplicit,
  outrankedBy,
  rankOf,
} from '../deploy/deployment.ts'
import { begin, type Draft, finish, set } from '../draft.ts'
import { keptSince, shortestKeepMs } from '../end/retention.ts'
import { isEqual } from '../equal.ts'
import { endFire, noteWaits } from '../fires.ts'
import { covers } from '../ledger.ts'
import { missInstant, missRetired } from '../plan/plan.ts'
import { canRead, markOf, nextUnskipped, seriesOf, zoneDataOf } from '../plan/series.ts'
import { planUpToNow, settleUpToNow } from '../plan/up-to-now.ts'
import { waitAfterReturn } from '../plan/waiting.ts'
import { isEnded } from '../plan/wake.ts'
import { aboutSchedule, isRunning } from '../records.ts'

/** The job is active under another name, which this deployment may not retire. */
export const HELD_BY_OTHER_NAME = 'HELD_BY_OTHER_NAME'
/** The decision depends on whether the one instant of the definition is on record: see `DefineWish.onRecord`. */
export const RECORD_UNREAD = 'RECORD_UNREAD'

export interface DefineWish {
  readonly definition: Definition
  readonly source: Source
  /** Standing of the deployment that declares it; without one, only the numbers decide. */
  readonly standing?: Standing | undefined
  /** The schedule of another name that holds the job: this one takes over from it if it is retired, and waits while it is active. */
  readonly holder?: ScheduleState | undefined
  /** Names that the job has in other releases. */
  readonly otherNames?: readonly string[] | undefined
  /** The name of another job that continues an old name of this one. */
  readonly continuedBy?: string | undefined
  /** That job continues the last name that this one had, too: this one begins from now. */
  readonly isLeft?: boolean | undefined
  /** What is on record at the one instant of the definition. Needed if the schedule has gone past that instant: else RECORD_UNREAD. */
  readonly onRecord?: readonly FireRecord[] | undefined
}

/** What a deployment may define depends on the record of its app. */
export interface Standing {
  readonly app: AppRecord
  readonly deployment: string
  /** The app that yields the schedule's name, if it is another one's. */
  readonly takesFrom?: string | undefined
}

/** Apply a declaration of code or of a client. `null`: the schedule is as declared already. */
export function define(
  state: ScheduleState | null,
  id: string,
  wanted: DefineWish,
  context: Context,
): Decision | Refusal | null {
  if (state === null) return defineNew(id, wanted, context)
  const refusal = refuseSource(state, wanted) ?? refuseJob(state, wanted.definition)
  if (refusal !== null) return refusal
  if (state.retiredAt !== null && isHeld(wanted)) return held(id, wanted.holder!.id)
  const isSame = isEqual(state.definition, wanted.definition) && state.retiredAt === null
  const isMoved = !hasSameTiming(state.definition, wanted.definition)
  if (isMoved && isOver(id, wanted, context.now)) return refusePast(id)
  if (isUnread(state, wanted, context.now)) return unread(id)
  if (!isSame) return change(state, wanted, context)
  if (isEqual(state.source, wanted.source)) return null
  const draft = begin(state, context)
  set(draft, { source: wanted.source })
  return finish(draft)
}

function defineNew(id: string, wanted: DefineWish, context: Context): Decision | Refusal {
  const twice = refuseOtherForm(id, wanted.standing)
  if (twice !== null) return twice
  const by = namedOtherwiseBy(wanted)
  if (by !== null) return superseded(id, wanted.standing!.app.name, by.id)
  if (isHeld(wanted)) return held(id, wanted.holder!.id)
  if (mayHaveRun(wanted, context.now) && wanted.onRecord === undefined) return unread(id)
  if (isRedateUnread(wanted, context.now)) return unread(id)
  return isOver(id, wanted, context.now) ? refusePast(id) : create(id, wanted, context)
}

/** A client wants a schedule for one instant that has passed: it would end at once, and the client would not notice. */
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

/** The first instant is the next one; under a new name, the one that follows what the old name has planned. */
function create(id: string, wanted: DefineWish, context: Context): Decision {
  const { definition, source, holder } = wanted
  const { now, zoneData } = context
  const carried =
    holder === undefined ? NOTHING_CARRIED : continueJob(holder, null, markAfterHolder(holder, wanted, now))
  const isOnRecord = mayHaveRun(wanted, now) && wanted.onRecord?.some(({ nonce }) => nonce === '') === true
  const from = isOnRecord ? now + 1 : planFrom(wanted, now)
  const plannedTo = holder === undefined ? from - 1 : carried.plannedTo
  const draft = begin(
    {
      ...{ id, version: 0, definition, revision: 1, source, createdAt: now, updatedAt: now },
      ...carried,
      ...{
        retiredAt: null,
        nextAt: null,
        plannedTo,
        zoneData: zoneDataOf(definition, zoneData),
        wakeAt: null,
        tokens: 0,
      },
      ...{ ended: 0, trimmedBefore: null, open: [], backfills: [] },
    },
    context,
  )
  missRedated(draft, wanted)
  set(draft, { nextAt: nextUnskipped(draft.state, seriesOf(id, definition), plannedTo) })
  if (holder !== undefined && source.kind === 'code') {
    const by = { deployment: wanted.standing?.deployment ?? '', number: source.number }
    set(draft, { retirements: [stretchBefore(holder, { to: plannedTo, ...by })] })
  }
  draft.events.push({ type: 'schedule.created', ...aboutSchedule(draft) })
  return finish(draft)
}

const NOTHING_CARRIED = {
  ...{ pause: null, fired: 0, failedInRow: 0, plannedTo: 0 },
  last: { dueAt: null, succeededDueAt: null, succeededAt: null },
}

/**
 * The start of a new rule. Code with one instant may be deployed after it: then the misfire policy decides, so that the instant
 * is on record.
 */
function planFrom({ definition: { trigger }, source }: DefineWish, from: Instant): Instant {
  return source.kind === 'code' && trigger?.kind === 'at' ? Math.min(trigger.at, from) : from
}

/**
 * Whether the one instant of a new schedule has passed and may be on record under another name of the job, which has been removed or is
 * continued by another job.
 */
function mayHaveRun(wanted: DefineWish, now: Instant): boolean {
  const { otherNames = [], holder, continuedBy } = wanted
  const hasNames = otherNames.length > 0 || continuedBy !== undefined
  return holder === undefined && hasNames && planFrom(wanted, now + 1) <= now
}

/** First everything up to now under the old rule, then the new one from now on. */
function change(state: ScheduleState, wanted: DefineWish, context: Context): Decision | Refusal {
  const draft = begin(state, context)
  const isMoved = !hasSameTiming(state.definition, wanted.definition)
  const holder = state.retiredAt === null ? undefined : wanted.holder
  const isContinued = holder === undefined && isContinuing(state, wanted)
  settleRetirement(draft, isMoved, isContinued)
  if (!settleOldRule(draft, isMoved)) return refuseBehind(state.id)
  if (isEnded(state) && !isContinued) endWaiting(draft)
  keepOwn(draft, state.definition, wanted.definition)
  const { now, zoneData } = context
  const { definition, source } = wanted
  const isRedefined = !isEqual(state.definition, definition)
  set(draft, {
    ...{ definition, source, revision: state.revision + (isRedefined ? 1 : 0), updatedAt: now },
    trimmedBefore: trimmedAfter(state, definition, now),
  })
  if (isMoved || (state.retiredAt !== null && !isContinued)) {
    const plannedTo = holder === undefined ? markAfter(draft, wanted, state) : takeOver(draft, holder, wanted)
    const nextAt = nextUnskipped(draft.state, seriesOf(state.id, definition), plannedTo)
    set(draft, { plannedTo, nextAt, zoneData: zoneDataOf(definition, zoneData) })
  }
  if (state.retiredAt !== null) comeBack(draft, state.retiredAt, holder)
  if (isRedefined) draft.events.push({ type: 'schedule.changed', ...aboutSchedule(draft) })
  return finish(draft)
}

/** Instants that a retired schedule had not planned when it was renamed belong to the holder. */
function settleRetirement(draft: Draft, isMoved: boolean, isContinued: boolean): void {
  const { state } = draft
  if (isContinued && isMoved) settleRetired(draft, null)
  else if (state.retiredAt !== null && !isContinued && !isRenamed(state)) settleRetired(draft, state.retiredAt + 1)
}

function refuseBehind(id: string): Refusal {
  return {
    refused: 'SCHEDULE_BEHIND',
    message: `The schedule ${id} has more than a million instants to catch up with.`,
    hint: 'Let an instance catch up, then try again.',
  }
}

/** The start of the new rule. Everything that the old rule has passed is on record, or was not an instant. */
function markAfter(draft: Draft, wanted: DefineWish, { definition: old }: ScheduleState): Instant {
  // The limit does not matter here: however many instants count, those up to the mark are on record.
  const isMoved = !hasSameInstants(old, wanted.definition)
  const { now } = draft.context
  const mark = markOf(draft.state)
  const from = planFrom(wanted, now + 1)
  // The same rule has planned everything behind its mark; what it had not planned when it was renamed belongs to another name.
  if (!isMoved && (from <= mark || isRenamed(draft.state))) return Math.max(mark, now)
  if (from > mark) return from - 1
  return from > now ? now : markBefore(draft, from, wanted.onRecord ?? [])
}

/** The one instant of the new rule is behind the mark of the old one. If it is not on record, the misfire policy decides about it. */
function markBefore(draft: Draft, at: Instant, onRecord: readonly FireRecord[]): Instant {
  const { context, state, history, creates } = draft
  const isPlanned = isAmong([...onRecord, ...history], at)
  if (isPlanned || creates.some(({ dueAt, nonce }) => nonce === '' && dueAt === at)) return context.now
  if (at >= keptSince(state, context.now)) return at - 1
  // It may have run, and its record may have been deleted since: planning it could repeat it.
  missInstant(draft, at)
  return context.now
}

function isAmong(records: readonly Pick<FireRecord, 'nonce' | 'dueAt' | 'range'>[], at: Instant): boolean {
  return records.some((record) => record.nonce === '' && covers(record, at))
}

/** Whether the schedule has gone past the one instant of the new rule, and no caller has read what is on record there. */
function isUnread(state: ScheduleState, wanted: DefineWish, now: Instant): boolean {
  const isTakenOver = state.retiredAt !== null && wanted.holder !== undefined
  if (isTakenOver || wanted.onRecord !== undefined) return isTakenOver && isRedateUnread(wanted, now)
  const isMoved = !hasSameTiming(state.definition, wanted.definition)
  return isMoved && planFrom(wanted, now + 1) <= Math.min(now, markOf(state))
}

function unread(id: string): Refusal {
  return {
    refused: RECORD_UNREAD,
    message: `It is not known whether the instant of the schedule ${id} is on record.`,
    hint: 'Read the records of this instant, and declare the schedule again.',
  }
}

/** Continue where the holder of the job stopped. */
function takeOver(draft: Draft, holder: ScheduleState, wanted: DefineWish): Instant {
  const mark = markAfterHolder(holder, wanted, draft.context.now)
  const { plannedTo, ...carried } = continueJob(holder, draft.state, mark)
  set(draft, carried)
  missRedated(draft, wanted)
  return plannedTo
}

/**
 * The one instant that a job gets together with its new name, if it has passed. `null`: it gets none. Where the name is taken from another
 * app, the declaration that follows decides.
 */
function redatedTo({ definition, source, holder, standing }: DefineWish, now: Instant): Instant | null {
  const { trigger } = definition
  if (source.kind !== 'code' || trigger?.kind !== 'at' || trigger.at > now) return null
  if (holder === undefined || standing?.takesFrom !== undefined) return null
  return hasSameTiming(holder.definition, definition) ? null : trigger.at
}

function isRedateUnread(wanted: DefineWish, now: Instant): boolean {
  return wanted.onRecord === undefined && redatedTo(wanted, now) !== null
}

/** It may have run under a name that is forgotten: it is missed, unless it is on record. */
function missRedated(draft: Draft, wanted: DefineWish): void {
  const at = redatedTo(wanted, draft.context.now)
  if (at === null) return
  if (!isAmong([...(wanted.onRecord ?? []), ...draft.history], at)) missInstant(draft, at)
}

/**
 * Up to where the name that takes over from the holder of a job plans nothing. What the holder has not planned may be left to it: after a
 * rename, after a retirement that is undone, and one instant always, since a late declaration leaves it to the misfire policy.
 */
function markAfterHolder(holder: ScheduleState, wanted: DefineWish, now: Instant): Instant {
  if (!hasSameTiming(holder.definition, wanted.definition)) return now
  const mark = markOf(holder)
  const isOnce = wanted.source.kind === 'code' && wanted.definition.trigger?.kind === 'at'
  const goesOn = isOnce || isRenamed(holder) || isUndone(holder, wanted)
  // The clock may have been set back since the holder went so far.
  return goesOn ? mark : Math.max(mark, now)
}

/**
 * Whether a retirement is undone: the instants in between are planned by the misfire policy. True for what was retired by absence, for
 * what the deployment that retired it declares after all, and for a rename that no other name has taken over from.
 */
function isContinuing(state: ScheduleState, wanted: DefineWish): boolean {
  if (isUndone(state, wanted)) return true
  const { retiredAt, retirements } = state
  if (retiredAt === null || wanted.isLeft === true) return false
  return wanted.otherNames?.includes(retirements?.at(-1)?.renamedTo ?? '') === true
}

function isUndone({ retiredAt, retirements, source: old }: ScheduleState, { source, standing }: DefineWish): boolean {
  const last = retirements?.at(-1)
  if (retiredAt === null || last === undefined || source.kind !== 'code') return false
  // Another app may have a deployment of the same id, also one that this app has just taken the schedule from.
  if (old.kind !== 'code' || old.app !== source.app || old.number === 0) return last.cause === 'absent'
  return last.cause === 'absent' || (last.cause === 'dropped' && last.deployment === standing?.deployment)
}

function isRenamed({ retiredAt, retirements }: ScheduleState): boolean {
  return retiredAt !== null && retirements?.at(-1)?.cause === 'renamed'
}

/** A retired schedule is active again. `holder`: the other name of its job that it takes over from. */
export function comeBack(draft: Draft, retiredAt: Instant, holder: ScheduleState | undefined): void {
  const { now } = draft.context
  const ended = (stretch: Retirement): Retirement => {
    if (holder === undefined) return { ...stretch, to: now }
    // Instants that the holder has not planned are planned here.
    const to = Math.max(stretch.from, Math.min(now, markOf(draft.state)))
    return { ...stretch, to, renamedTo: holder.id, turn: Math.max(stretch.turn ?? 0, turnAfter(holder)) }
  }
  const retirements = draft.state.retirements?.map((stretch) => (stretch.to === null ? ended(stretch) : stretch))
  set(draft, retirements === undefined ? { retiredAt: null } : { retiredAt: null, retirements })
  noteWaits(draft, (fire) => waitAfterReturn(fire, now))
  draft.events.push({ type: 'schedule.returned', ...aboutSchedule(draft), retiredAt })
}

/**
 * Record the unplanned instants before `end` (`null`: up to now). Bounded: beyond a million instants only the period of the
 * retirement is on record.
 */
function settleRetired(draft: Draft, end: Instant | null): void {
  let hasMore = canRead(draft.state.definition)
  for (let step = 0; hasMore && step < MAX_STEPS; step++) hasMore = missRetired(draft, end)
}

/** Waiting fires do not run any more. */
export function endWaiting(draft: Draft): void {
  for (const fire of draft.open.filter((open) => !isRunning(open))) endFire(draft, fire, ending('retired'))
  set(draft, { backfills: [] })
}

function settleOldRule(draft: Draft, isMoved: boolean): boolean {
  const { pause } = draft.state
  // The pause keeps its stretch as long as the instants do not change; otherwise it is settled as if the pause ended by itself.
  return isMoved && pause !== null ? settleUpToNow(draft, pause.missed) : planUpToNow(draft)
}

/** Open fires keep the definition that they were planned with. */
function keepOwn(draft: Draft, old: Definition, wanted: Definition): void {
  if (old.tenant !== wanted.tenant) {
    draft.open = draft.open.map((fire) => (fire.tenant === undefined ? { ...fire, tenant: old.tenant } : fire))
  }
  if (isEqual(old.input, wanted.input) && isEqual(old.policy, wanted.policy)) return
  const own = { input: old.input, policy: old.policy }
  draft.open = draft.open.map((fire) => (fire.own === null ? { ...fire, own } : fire))
}

/** Records written under a shorter retention expire earlier than the new one says. */
function trimmedAfter(state: ScheduleState, wanted: Definition, now: Instant): Instant | null {
  const isLonger = shortestKeepMs(policyOf(wanted.policy)) > shortestKeepMs(policyOf(state.definition.policy))
  return isLonger ? Math.max(state.trimmedBefore ?? now, now) : state.trimmedBefore
}

function refuseSource(state: ScheduleState, wanted: DefineWish): Refusal | null {
  const { id, source, retiredAt } = state
  if (source.kind === 'client') {
    return wanted.source.kind === 'client' ? null : taken(id, 'made by a client')
  }
  if (wanted.source.kind === 'client') {
    return {
      refused: 'SCHEDULE_IN_CODE',
      message: `The schedule ${id} is declared in the code of ${source.app}.`,
      hint: 'Change the code, or choose another name.',
    }
  }
  const { standing } = wanted
  const twice = refuseOtherForm(id, standing)
  if (twice !== null) return twice
  if (source.app !== wanted.source.app) {
    return standing?.takesFrom === source.app ? refuseTaking(id, wanted, standing) : takenByApp(state, source.app)
  }
  if (standing === undefined) return wanted.source.number >= source.number ? null : superseded(id, source.app)
  return retiredAt === null
    ? refuseRank(state, wanted, standing, wanted.source.number)
    : refuseReturn(state, wanted, standing, wanted.source.number)
}

/** A release may take a name that another app yields if it could declare it anew, and no newer release has replaced it. */
export function refuseTaking(id: string, wanted: DefineWish, { app, deployment }: Standing): Refusal | null {
  const higher = outrankedBy(app, deployment, id) ?? namedOtherwiseBy(wanted)
  if (higher !== null) return superseded(id, app.name, higher.id)
  const newest = replacedBy(app, deployment, id)
  return newest === null ? null : superseded(id, app.name, newest.id)
}

/** The newest release with an id, if it decides instead of this one. Not about a host that it has not reached yet. */
function replacedBy(app: AppRecord, deployment: string, schedule: string): DeploymentRecord | null {
  const own = findDeployment(app, deployment)
  const newest = own?.explicit === false ? null : newestExplicit(app)
  if (newest === null || newest.id === deployment || hasSchedule(newest, schedule)) return null
  return newest.number > rankOf(own) ? newest : null
}

/** Whether the job goes on under another name: this one must not plan beside it. */
function isHeld({ holder }: DefineWish): boolean {
  return holder !== undefined && holder.retiredAt === null
}

function held(id: string, by: string): Refusal {
  return {
    refused: HELD_BY_OTHER_NAME,
    message: `The job of the schedule ${id} goes on as ${by}.`,
    hint: 'Nothing needs to be done: the newest deployment decides which name it has.',
  }
}

/** The newer deployment that has the job under another name: it decides about both. */
function namedOtherwiseBy({ standing, otherNames = [] }: DefineWish): DeploymentRecord | null {
  if (standing === undefined) return null
  const { app, deployment } = standing
  const own = findDeployment(app, deployment)?.declares ?? []
  const names = otherNames.filter((name) => !own.includes(name))
  return highestOf(names.flatMap((name) => outrankedBy(app, deployment, name) ?? []))
}

/**
 * With equal numbers the first definition stands; a lower one counts when every higher-numbered deployment that declares it is
 * lost.
 */
function refuseRank(
  { id, source, definition }: ScheduleState,
  wanted: DefineWish,
  { app, deployment }: Standing,
  number: number,
): Refusal | null {
  const higher = outrankedBy(app, deployment, id)
  if (higher !== null) return superseded(id, app.name, higher.id)
  const isSameNumber = source.kind === 'code' && source.number === number
  if (!isSameNumber || isEqual(definition, wanted.definition)) return null
  const message = `Two processes of deployment ${deployment} define the schedule ${id} differently. The first definition stands.`
  return { refused: 'SCHEDULE_DEFINED_TWICE', message, hint: TWICE_HINT }
}

const TWICE_HINT = `Give every release a deployment id of its own, or, if they are two programs, name one of them: cronce({ app: 'worker' }).`

/** Another process of this deployment has the job in the other form, and was first: the record lacks what this process declares. */
function refuseOtherForm(id: string, standing: Standing | undefined): Refusal | null {
  const own = standing === undefined ? undefined : findDeployment(standing.app, standing.deployment)
  if (own === undefined || hasSchedule(own, id)) return null
  const isOnHost = hasOtherForm(own, id, true)
  if (!isOnHost && !hasOtherForm(own, id, false)) return null
  const [job, how] = isOnHost ? [plainJob(id), 'without'] : [id, 'with']
  const message = `Another process of deployment ${standing!.deployment} declares the job ${job} ${how} hosts: 'each'. The first definition stands.`
  return { refused: 'SCHEDULE_DEFINED_TWICE', message, hint: TWICE_HINT }
}

/**
 * Which deployment may bring a retired schedule back, unless a newer one has its job under another name: the one that retired it,
 * the newest one, and one without an id. After an absence, any that the newest one with an id does not overrule.
 */
function refuseReturn(
  { id, retirements }: ScheduleState,
  wanted: DefineWish,
  { app, deployment }: Standing,
  number: number,
): Refusal | null {
  const higher = outrankedBy(app, deployment, id)
  const own = findDeployment(app, deployment)
  const last = retirements?.at(-1)
  // What a live process without an id declares is never retired, also if one with an id declares it, too.
  if (last?.cause === 'dropped' && own?.explicit === false && higher?.explicit !== false) return null
  if (higher !== null) return superseded(id, app.name, higher.id)
  const heir = namedOtherwiseBy(wanted)
  if (heir !== null) return retired(id, app, heir, 'renamed')
  if (last === undefined || last.deployment === deployment) return null
  const newest = replacedBy(app, deployment, id)
  const refusal = newest === null ? null : retired(id, app, newest, 'dropped')
  if (last.cause === 'absent') return refusal
  const retirer = findDeployment(app, last.deployment)
  if (retirer !== undefined && !retirer.lost && number <= retirer.number) return retired(id, app, retirer, last.cause)
  return refusal
}

function retired(id: string, app: AppRecord, by: DeploymentRecord, cause: Retirement['cause']): Refusal {
  const how = cause === 'renamed' ? 'renamed it' : 'does not declare it'
  return {
    refused: 'SCHEDULE_RETIRED',
    message: `The schedule ${id} is retired: the newer deployment ${by.id} of the app ${app.name} ${how}.`,
    hint: `If this process is another program, name it: cronce({ app: 'worker' }).`,
  }
}

function superseded(id: string, app: string, by = 'a newer one'): Refusal {
  return {
    refused: 'DEPLOYMENT_SUPERSEDED',
    message: `The schedule ${id} of ${app} is defined by another deployment: ${by}.`,
    hint: 'Nothing needs to be done: the newest deployment that declares a schedule defines it.',
  }
}

function takenByApp(state: ScheduleState, app: string): Refusal {
  const { id, retirements } = state
  const moved = ` If the job has moved here: it is free once ${app} has retired it or is gone.`
  if (!isOldName(state)) return taken(id, `declared by the app ${app}`, moved)
  const name = retirements!.at(-1)!.renamedTo!
  return {
    ...taken(id, `which the app ${app} renamed to ${name}`),
    hint: `Choose another name; or, if ${app} no longer has the job, remove ${id}. The name is free once ${app} is gone.`,
  }
}

function taken(id: string, by: string, moved = ''): Refusal {
  return {
    refused: 'SCHEDULE_NAME_TAKEN',
    message: `There is a schedule ${id} already, ${by}.`,
    hint: `Choose another name, or remove that one.${moved}`,
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
