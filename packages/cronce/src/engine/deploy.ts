import type { AppRecord, DeploymentRecord } from '../model/app.ts'
import type { InstanceRecord } from '../model/instance.ts'
import type { FireRecord } from '../model/record.ts'
import type { Instant, ScheduleState } from '../model/schedule.ts'
import { advance } from '../policy/advance.ts'
import { nextBackfillStretch } from '../policy/backfill.ts'
import type { Refusal } from '../policy/decision.ts'
import { define } from '../policy/define.ts'
import { decideDeployment } from '../policy/deployment.ts'
import { retire } from '../policy/retire.ts'
import type { Page, ScheduleQuery } from '../store/store.ts'
import { type Changed, changeSchedules, type Decide } from './change-schedules.ts'
import type { Core } from './core.ts'
import { describeError } from './describe-error.ts'
import { callStore } from './store-calls.ts'

/** Deployments: whose declarations count, and writing them once. */
export interface Deployer {
  /** See who is active; declare what the code says if it is this deployment's turn. Throws when the store does. */
  keep(): Promise<void>
  /** Whether there is something that the last `keep` has not seen, or something runs out. */
  isWanted(): boolean
  /** How long nothing runs out. */
  restMs(): number
  /** What was written may be lost: all of it is to be done again. */
  forget(): void
}

const BATCH = 200
const TRIES = 10
/** While the active deployment is gone: until the hold-down is over. */
const HELD_DOWN_MS = 30_000
/** What could not be written yet is tried again after so long, then less and less often. */
const AGAIN_MS = 5_000
const AGAIN_LONGEST_MS = 60_000
/** So often at least, that the record says who was ready while those who were are still on record themselves. */
const LONGEST_MS = 3_600_000

/** What the last `keep` saw. */
interface Kept {
  readonly version: number
  readonly liveIds: readonly string[]
  readonly isHeldDown: boolean
  /** Until the next try to write what is not written yet; `null`: all is. */
  readonly againMs: number | null
}

/** Jobs of processes of this deployment. */
interface Alike {
  /** And one that has it. */
  readonly live: ReadonlyMap<string, string>
  /** Of those that died a moment ago. */
  readonly missed: ReadonlySet<string>
}

const NOBODY_ELSE: Alike = { live: new Map(), missed: new Set() }

/** What a declaration may be refused for that passes by itself. */
const PASSING: ReadonlySet<string> = new Set(['SCHEDULE_BEHIND', 'SCHEDULE_BUSY'])

export function deployer(core: Core): Deployer {
  const { app, deployment, declared, holdDownMs } = core.settings
  /** The term under which this process has written its declarations. */
  let declaredTerm = -1
  /** And as whom: while it was taken for dead, what it has may have been retired. */
  let declaredAs = ''
  let kept: Kept | null = null
  /** Instances that have what was not retired for their sake: when one is gone, that is to be looked at again. */
  let sparedFor: readonly string[] = []
  /** What is tried again is told once in a term. */
  let told = { term: -1, refused: new Set<string>() }
  /** Instants that an earlier schedule of the name has left on record. */
  const onRecord = new Map<string, FireRecord[]>()
  let keptAt = Number.NEGATIVE_INFINITY

  const liveIds = (): string[] => {
    const ready = core.peers.filter((peer) => peer.app === app && !peer.expired)
    return [...new Set([deployment, ...ready.map((peer) => peer.deployment)])].sort()
  }

  const restMs = (): number => {
    const { leaseMs } = core.settings
    // Who renews only now and then has time for these, too.
    const heldDownMs = Math.min(Math.max(HELD_DOWN_MS, leaseMs), holdDownMs / 2)
    const pauseMs = kept?.againMs ?? (kept?.isHeldDown === true ? heldDownMs : LONGEST_MS)
    return Math.max(0, keptAt + pauseMs - core.parts.clock.mono())
  }

  const isUnspared = (): boolean => sparedFor.some((spared) => !core.peers.some(({ id }) => id === spared))

  const isWanted = (): boolean =>
    kept === null ||
    declaredAs !== core.instance ||
    isUnspared() ||
    kept.version !== core.chores.appVersion ||
    kept.liveIds.join() !== liveIds().join() ||
    restMs() === 0

  const keep = async (): Promise<void> => {
    const againMs = Math.min(AGAIN_LONGEST_MS, 2 * (kept?.againMs ?? AGAIN_MS / 2))
    // If it fails, or others are faster, it is still to be done.
    kept = null
    keptAt = core.parts.clock.mono()
    const seen = liveIds()
    const record = await activate(seen)
    if (record === null) return
    const isComplete = await declareIn(record)
    const isHeldDown = record.activeGoneAt !== null
    kept = { version: record.version, liveIds: seen, isHeldDown, againMs: isComplete ? null : againMs }
  }

  /** False: something is still to be written. */
  const declareIn = async ({ active, term }: AppRecord): Promise<boolean> => {
    const { instance } = core
    if (active === deployment && (term !== declaredTerm || declaredAs !== instance || isUnspared())) {
      if (told.term !== term) told = { term, refused: new Set() }
      const isDeclared = await declare(term)
      const isRetired = await retireOthers(term)
      declaredTerm = isDeclared && isRetired ? term : -1
    }
    if (active !== deployment) sparedFor = []
    declaredAs = instance
    return active !== deployment || declaredTerm === term
  }

  const activate = async (live: readonly string[]): Promise<AppRecord | null> => {
    for (let tries = 0; tries < TRIES; tries++) {
      const { now, app: known } = await callStore(core, 'deploy (read)', () => core.parts.store.loadApp(app))
      const upToDate = known === null ? null : await withPresence(known, live, now)
      const wanted = decideDeployment(upToDate, app, { now, me: deployment, liveIds: live, holdDownMs })
      if (wanted === null) return known
      if (!(await callStore(core, 'deploy', () => core.parts.store.saveApp(wanted)))) continue
      if (wanted.active !== null && wanted.active !== known?.active) {
        core.parts.emit({ type: 'deployment.activated', app, deployment: wanted.active, term: wanted.term })
      }
      return wanted
    }
    // Others decide at the same time, on what we see too: the next round will find it done.
    return null
  }

  /**
   * Who was ready when is written rarely: in between, the instances themselves say so. Without that a deployment that was
   * there all the time would seem to come back after a long absence, and count as the latest. One alone is that anyway.
   */
  const withPresence = async (record: AppRecord, live: readonly string[], now: Instant): Promise<AppRecord> => {
    const isOld = ({ id, lastReadyAt }: DeploymentRecord): boolean =>
      live.includes(id) && now - lastReadyAt >= holdDownMs / 4
    if (record.deployments.length < 2 || !record.deployments.some(isOld)) return record
    const { instances } = await callStore(core, 'deploy (look)', () => core.parts.store.listInstances({ app }))
    const deployments = record.deployments.map((known) => {
      if (!isOld(known)) return known
      const own = instances.filter((peer) => peer.app === app && peer.deployment === known.id)
      const readyAt = presentUntil(known.lastReadyAt, own, holdDownMs)
      // Not later than this, so that it is worth writing down.
      return { ...known, lastReadyAt: Math.max(known.lastReadyAt, Math.min(readyAt, now - holdDownMs / 4)) }
    })
    return { ...record, deployments }
  }

  /** False: not all of it could be written yet. */
  const declare = async (term: number): Promise<boolean> => {
    const source = { kind: 'code' as const, app, term }
    let isComplete = true
    for (let start = 0; start < declared.length; start += BATCH) {
      const wanted = new Map(declared.slice(start, start + BATCH).map(({ id, definition }) => [id, definition]))
      const refusals = new Map<string, Refusal>()
      await core.parts.sync('declare:sent')
      const isWritten = await change('declare', [...wanted.keys()], (id, state, context) => {
        const decision = define(state, id, { definition: wanted.get(id)!, source }, context)
        if (decision === null || !('refused' in decision)) return decision
        // That a newer deployment was faster is as it should be.
        if (decision.refused !== 'DEPLOYMENT_SUPERSEDED') refusals.set(id, decision)
        return null
      })
      for (const [schedule, { refused, message }] of refusals) {
        if (PASSING.has(refused)) isComplete = false
        if (told.refused.has(schedule)) continue
        told.refused.add(schedule)
        const { job } = wanted.get(schedule)!
        core.parts.emit({ type: 'schedule.refused', schedule, job, code: refused, message })
      }
      if (!isWritten) isComplete = false
    }
    core.claimAlarm.ring()
    return isComplete
  }

  /**
   * False: the store did not take all of it. An instant that is on record already is passed over first, as an instance does that plans;
   * what its clock did not let happen yet has its turn next time.
   */
  const change = async (operation: string, ids: readonly string[], decide: Decide): Promise<boolean> => {
    let isComplete = true
    const changed = new Map<string, Changed>()
    const decideOne: Decide = (id, state, context) => {
      const inTheWay = onRecord.get(id)
      onRecord.delete(id)
      const isPassed = state === null || inTheWay === undefined || nextBackfillStretch(state) !== null
      const passed = isPassed ? null : advance(state, context, null, inTheWay)
      if (passed !== null) isComplete = false
      return passed ?? decide(id, state, context)
    }
    try {
      await changeSchedules(core, operation, ids, decideOne, {}, changed)
    } catch (error) {
      // One that somebody holds in a transaction of their own keeps nobody from starting.
      if (describeError(error).code !== 'CONTENTION') throw error
      isComplete = false
    }
    for (const [id, outcome] of changed) {
      if (outcome.kind !== 'refused') continue
      isComplete = false
      if (outcome.result.kind === 'exists') onRecord.set(id, [outcome.result.fire])
    }
    return isComplete
  }

  /** False: not all of it could be written yet. */
  const retireOthers = async (term: number): Promise<boolean> => {
    const own = new Set(declared.map(({ id }) => id))
    sparedFor = []
    let isComplete = true
    for (let after: string | null = null; ; ) {
      const query: ScheduleQuery = { app, after, limit: BATCH }
      const page: Page<ScheduleState> = await callStore(core, 'retire (list)', () =>
        core.parts.store.listSchedules(query),
      )
      const others = page.items.filter(({ id, retiredAt }) => retiredAt === null && !own.has(id)).map(({ id }) => id)
      // Asked after the schedules were: whoever declares one has joined before.
      const alike = others.length === 0 ? NOBODY_ELSE : await jobsOfAlike()
      const gone = others.filter((id) => !alike.live.has(id) && !alike.missed.has(id))
      if (others.some((id) => alike.missed.has(id))) isComplete = false
      sparedFor = [...new Set([...sparedFor, ...others.flatMap((id) => alike.live.get(id) ?? [])])]
      const isWritten = await change('retire', gone, (_, state, context) => {
        const decision = state === null ? null : retire(state, { app, term }, context)
        // More is due than one step settles.
        if (decision !== null && decision.change.state?.retiredAt === null) isComplete = false
        return decision
      })
      if (!isWritten) isComplete = false
      if (page.next === null) return isComplete
      after = page.next
    }
  }

  /**
   * Processes of one deployment may have different jobs: what another one has is not gone from the code, and one that was lost without a word
   * may come back. Whoever left did so on purpose.
   */
  const jobsOfAlike = async (): Promise<Alike> => {
    const { now, instances } = await callStore(core, 'retire (look)', () => core.parts.store.listInstances({ app }))
    const alike = instances.filter((peer) => peer.app === app && peer.deployment === deployment)
    const live = alike.filter(({ state }) => state === 'live' || state === 'draining')
    const missed = alike.filter(({ state, renewedAt }) => state === 'dead' && now - renewedAt < holdDownMs)
    return {
      live: new Map(live.flatMap(({ id, jobs }) => jobs.map((job) => [job, id]))),
      missed: new Set(missed.flatMap(({ jobs }) => jobs)),
    }
  }

  const forget = (): void => {
    kept = null
    declaredTerm = -1
  }

  return { keep, isWanted, restMs, forget }
}

/** From instance to instance, as long as the next one came before the hold-down was over. */
function presentUntil(readyAt: Instant, instances: readonly InstanceRecord[], holdDownMs: number): Instant {
  let until = readyAt
  for (const { startedAt, renewedAt } of instances.toSorted((a, b) => a.startedAt - b.startedAt)) {
    if (startedAt - until < holdDownMs) until = Math.max(until, renewedAt)
  }
  return until
}
