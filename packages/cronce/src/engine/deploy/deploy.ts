import type { AppRecord, RefusedDeclaration } from '../../model/app.ts'
import type { EventOf } from '../../model/event.ts'
import type { InstanceRecord } from '../../model/instance.ts'
import type { FireRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Refusal } from '../../policy/decision.ts'
import { isOldName, isRenamedTo } from '../../policy/deploy/continue-job.ts'
import {
  counts,
  findDeployment,
  longGone,
  markGone,
  markLost,
  outrankedBy,
  recordRefusals,
  registerProcess,
} from '../../policy/deploy/deployment.ts'
import { namesOfJobs } from '../../policy/deploy/job-names.ts'
import { type DefineWish, define, HELD_BY_OTHER_NAME, RECORD_UNREAD } from '../../policy/operate/define.ts'
import { advance } from '../../policy/plan/advance.ts'
import { nextBackfillStretch } from '../../policy/plan/backfill.ts'
import { isRefusal } from '../../policy/refusals.ts'
import { listFires, ofFire } from '../../store/list-views.ts'
import { type Changed, changeSchedules, type Decide } from '../change-schedules.ts'
import { jobsElsewhere } from '../claim/buckets.ts'
import type { Core } from '../core.ts'
import { describeError } from '../describe-error.ts'
import { callStore } from '../store-calls.ts'
import type { DeployState } from './deploy-state.ts'
import { isOf, movedFrom, otherHolder, refuseMoved, renamedJobs, renamer } from './rename-jobs.ts'
import { type Progress, retirer } from './retire-schedules.ts'
import { nameTaker, type Wish } from './take-names.ts'
import { fleetWatch, hasVanished, ofApp } from './watch-deployments.ts'

/** Registers this process with its app, declares its schedules, and retires what left the code. See docs/architecture.md, "Deployments". */
export interface Deployer {
  /** Register, declare and retire what is due. Throws when the store does. */
  keep(): Promise<void>
  /** After every beat: note which deployments are live. */
  observe(): void
  /** Whether something changed since the last `keep`, or a wait is over. */
  isWanted(): boolean
  /** Until a wait is over. */
  restMs(): number
  /** The store may have lost what was written: do all of it again. */
  forget(): void
}

const BATCH = 200
const TRIES = 10
/** First pause before another try to write what could not be written; doubles up to the longest. */
const RETRY_MS = 5_000
const RETRY_LONGEST_MS = 60_000
const LONGEST_MS = 3_600_000
/** How often a process checks that the schedules that it declared are still there and its app's. */
const VERIFY_MS = LONGEST_MS

const NAME_TAKEN = 'SCHEDULE_NAME_TAKEN'
const RENAME_IGNORED = 'RENAME_IGNORED'
/** A declaration may be refused for a reason that passes: the schedule that has the name may be removed or retired. */
const PASSING: ReadonlySet<string> = new Set(['SCHEDULE_BEHIND', 'SCHEDULE_BUSY', NAME_TAKEN])

/** What the last `keep` saw. */
interface Kept {
  readonly record: AppRecord
  readonly liveKey: string
  /** Until the next try to write what is not written yet; `null`: all is. */
  readonly retryMs: number | null
}

/** A process without jobs declares nothing, registers nothing and retires nothing. */
const IDLE: Deployer = {
  keep: async () => {},
  observe: () => {},
  isWanted: () => false,
  restMs: () => LONGEST_MS,
  forget: () => {},
}

export function deployer(core: Core, state: DeployState): Deployer {
  const { app, deployment, declared, holdDownMs } = core.settings
  if (declared.length === 0) return IDLE
  const { clock, store, emit } = core.parts
  const names = declared.map(({ id }) => id).sort()
  const links = declared.flatMap(({ id, was }) => (was === undefined ? [] : [{ was, id }]))
  const watch = fleetWatch(core)
  const tools = {
    save: (record: AppRecord) => save(record),
    change: (operation: string, ids: readonly string[], decide: Decide, record: AppRecord) =>
      change(operation, ids, decide, record),
  }
  const renames = renamer(core, tools)
  const taker = nameTaker(core, { watch, ...tools })
  const retires = retirer(core, watch, tools.change)
  let kept: Kept | null = null
  let keptAt = Number.NEGATIVE_INFINITY
  /** What the declarations that are written depend on. */
  let declaredUnder = ''
  /** The instance id that was last registered. */
  let registeredAs = ''
  let refusals: readonly RefusedDeclaration[] = []
  /** When (monotonic) the schedules were last declared, or found to be as declared. */
  let verifiedAt = clock.mono()
  const reportedRefusals = new Set<string>()
  /** Declarations of other apps that the last beat showed, and that this process has not looked up in the store yet. */
  let rivals: readonly Rival[] = []
  /** The rivals that were looked up since this process last declared its schedules. */
  const lookedUp = new Set<string>()
  /** Instants on record that an earlier schedule of the name left. */
  const onRecord = new Map<string, FireRecord[]>()
  /** By schedule, what is on record at the one instant that its job declares. It counts for the version that was read before. */
  const atInstant = new Map<string, Read & { readonly records: readonly FireRecord[] }>()

  const liveKey = (): string => [core.fleet.instance, ...watch.liveIds(), '', ...jobsElsewhere(core)].join()

  const restMs = (): number => {
    const waitMs = Math.min(LONGEST_MS, kept?.retryMs ?? LONGEST_MS)
    const now = clock.mono()
    return Math.max(0, Math.min(keptAt + waitMs - now, verifiedAt + VERIFY_MS - now, watch.untilNextMs()))
  }

  const isWanted = (): boolean =>
    kept === null ||
    kept.record.version !== core.fleet.chores.appVersion ||
    kept.liveKey !== liveKey() ||
    watch.hasChanged() ||
    rivals.length > 0 ||
    restMs() === 0

  const keep = async (): Promise<void> => {
    const retryMs = Math.min(RETRY_LONGEST_MS, 2 * (kept?.retryMs ?? RETRY_MS / 2))
    // If it fails, it is still to be done.
    kept = null
    keptAt = clock.mono()
    for (let tries = 0; tries < TRIES; tries++) {
      const seen = liveKey()
      // Before the first answer of the store: a wait that ends after this needs another `keep`.
      watch.act()
      const record = await register()
      if (record === null) continue
      const declaring = await declareUnder(record)
      if (declaring === 'outdated') continue
      const reported = await reportRefusals(record)
      if (reported === null) continue
      await reportRivals()
      const retired = await retires.pass(reported)
      if (retired.progress === 'outdated') continue
      // This process retired what it declares itself: it finds out as every other process does.
      if (retiredOf(retired.record) !== retiredOf(record)) continue
      watch.adopt(retired.record)
      state.numbers = numbersOf(retired.record)
      const isDone = declaring === 'done' && retired.progress === 'done'
      kept = { record: retired.record, liveKey: seen, retryMs: isDone ? null : retryMs }
      return
    }
    // Others change the record at the same time: the next round finds it done.
  }

  /** Whether this instance has not registered yet, and no other live one of its deployment can have. */
  const isFirst = (): boolean =>
    registeredAs !== core.fleet.instance &&
    !core.fleet.peers.some(
      (peer) =>
        peer.id !== core.fleet.instance &&
        peer.deployment === deployment &&
        isPresent(peer) &&
        !hasVanished(core, peer, core.time.estimate()),
    )

  /** Write this process, and what it sees of the others, into the app's record. `null`: another process was faster. */
  const register = async (): Promise<AppRecord | null> => {
    const { now, app: known } = await callStore(core, 'deploy (read)', () => store.loadApp(app))
    const isSteady = watch.livedMs() >= holdDownMs
    const process = {
      id: deployment,
      explicit: core.settings.isExplicit,
      declares: names,
      renames: links,
      isSteady,
      isReturning: isFirst(),
    }
    const live = new Set(watch.liveIds())
    let next = registerProcess(known, app, process, { now, live }) ?? known!
    if (next.deployments.some(({ id, goneAt }) => goneAt === null && !live.has(id))) next = await withGone(next)
    next = markLost(next, new Set([...watch.lostIds(next), ...longGone(next, now)])) ?? next
    watch.adopt(next)
    if (next === known) {
      registeredAs = core.fleet.instance
      return known
    }
    const wanted = { ...next, version: (known?.version ?? 0) + 1, refused: next.refused.filter(isLive) }
    if (!(await save(wanted))) return null
    registeredAs = core.fleet.instance
    if (wanted.active !== null && wanted.active !== known?.active) {
      const { number } = findDeployment(wanted, wanted.active)!
      emit({ type: 'deployment.activated', app, deployment: wanted.active, number })
    }
    return wanted
  }

  const save = (record: AppRecord): Promise<boolean> => callStore(core, 'deploy', () => store.saveApp(record))

  const isLive = ({ instance }: RefusedDeclaration): boolean => core.fleet.peers.some(({ id }) => id === instance)

  /** Judged by a new list: the last beat may be older than the record. */
  const withGone = async (record: AppRecord): Promise<AppRecord> => {
    const { now, instances } = await callStore(core, 'deploy (look)', () => store.listInstances({ app }))
    const own = instances.filter((peer) => peer.app === app && peer.jobs.length > 0)
    const present = own.filter((peer) => isPresent(peer) && !hasVanished(core, peer, now))
    const live = new Set([deployment, ...present.map((peer) => peer.deployment)])
    const diedEarly = new Set(
      record.deployments.filter(({ id, readyAt }) => hasDiedEarly(own, id, readyAt)).map(({ id }) => id),
    )
    return markGone(record, { now, live, diedEarly }) ?? record
  }

  const hasDiedEarly = (instances: readonly InstanceRecord[], id: string, readyAt: number): boolean => {
    const ended = instances.filter((peer) => peer.deployment === id && !isPresent(peer))
    const last = ended.toSorted((a, b) => b.renewedAt - a.renewedAt)[0]
    return last?.state === 'dead' && last.renewedAt - readyAt < holdDownMs
  }

  const retiredOf = ({ retired }: AppRecord): string => JSON.stringify(retired.filter((name) => names.includes(name)))

  const declareUnder = async (record: AppRecord): Promise<Progress> => {
    const ranks = record.deployments.map(({ id, number, lost, onProbation }) => [id, number, lost, onProbation])
    const others = [...watch.absentApps(), '', ...jobsElsewhere(core)]
    const under = JSON.stringify([core.fleet.instance, ranks, retiredOf(record), record.announced, others])
    if (under === declaredUnder && (await isAsDeclared())) return 'done'
    const renamed = await renames.rename(record, wishesUnder(record))
    if (renamed !== 'done') return renamed
    const progress = await declare(record)
    declaredUnder = progress === 'done' ? under : ''
    return progress
  }

  /** Schedules may be removed, or taken by another app, in ways that the app's record does not tell. */
  const isAsDeclared = async (): Promise<boolean> => {
    if (clock.mono() - verifiedAt < VERIFY_MS) return true
    verifiedAt = clock.mono()
    const states = new Map<string, ScheduleState>()
    for (let start = 0; start < names.length; start += BATCH) {
      const batch = names.slice(start, start + BATCH)
      const { schedules } = await callStore(core, 'deploy (verify)', () => store.load(batch))
      for (const state of schedules) states.set(state.id, state)
    }
    const isRefused = (name: string): boolean => refusals.some(({ schedule }) => schedule === name)
    return names.every((name) => {
      const state = states.get(name)
      return state !== undefined && isOwn(state) !== isRefused(name)
    })
  }

  const declare = async (record: AppRecord): Promise<Progress> => {
    verifiedAt = clock.mono()
    const wishes = wishesUnder(record)
    const named = await renames.load(wishes)
    const { states, foreign: others } = named
    const refused: RefusedDeclaration[] = []
    /** Declared under a name that waits for another name of the job. */
    const held = new Set<string>()
    const foreign = new Set<string>()
    /** By other app, the names that it has, and what this process declares for each. */
    const taken = new Map<string, Map<string, Wish>>()
    const want = (owner: string, name: string, wish: Wish): void => {
      watch.want(owner)
      const standing = { ...wish.standing!, takesFrom: owner }
      const wanted = { ...wish, standing, holder: otherHolder(wish, null, states) }
      taken.set(owner, new Map([...(taken.get(owner) ?? []), [name, wanted]]))
    }
    const unread: Read[] = []
    let progress: Progress = 'done'
    for (let start = 0; start < declared.length; start += BATCH) {
      const wanted = new Map(declared.slice(start, start + BATCH).map((one) => [one.id, one]))
      const found = new Map<string, Refusal>()
      await core.parts.sync('declare:sent')
      const decide: Decide = (id, state, context) => {
        const wish = wishes.get(id)!
        const isLeft = state === null || (isOwn(state) && isOldName(state))
        const before = isLeft ? movedFrom(wish, named) : undefined
        // Old names of the job go with it; and the one that another app has, when that app is gone.
        for (const old of wish.otherNames.flatMap((name) => others.get(name) ?? [])) {
          if (old.source.kind === 'code' && (old === before || isRenamedTo(old, id))) want(old.source.app, old.id, wish)
        }
        const decision =
          before === undefined ? define(state, id, wishOn(state, wish, states), context) : refuseMoved(id, before)
        if (decision === null || !isRefusal(decision)) return decision
        if (decision.refused === RECORD_UNREAD) {
          unread.push({ id, version: state?.version })
          return null
        }
        if (decision.refused === HELD_BY_OTHER_NAME) {
          held.add(id)
          progress = 'unfinished'
          return null
        }
        if (decision.refused === NAME_TAKEN && state?.source.kind === 'code' && !isOwn(state)) {
          want(state.source.app, id, wish)
          foreign.add(id)
        }
        // That a newer deployment defines it is as it should be.
        if (decision.refused !== 'DEPLOYMENT_SUPERSEDED') found.set(id, decision)
        return null
      }
      const written = await change('declare', [...wanted.keys()], decide, record)
      if (written === 'outdated') return written
      if (written === 'unfinished') progress = written
      for (const [schedule, refusal] of found) refused.push(refusalOf(schedule, refusal))
    }
    atInstant.clear()
    for (const read of unread) atInstant.set(read.id, await readInstant(read, wishes.get(read.id)!))
    if (unread.length > 0) return 'outdated'
    refusals = refused
    lookedUp.clear()
    reportIgnoredRenames(record)
    const isWaiting = (id: string): boolean =>
      held.has(id) || refused.some(({ schedule, code }) => schedule === id && code === NAME_TAKEN)
    state.renamedJobs = renamedJobs(
      wishes,
      named,
      (id, old) => isWaiting(id) && outrankedBy(record, deployment, old) === null,
    )
    state.foreignJobs = foreign
    for (const [owner, wanted] of taken) if (await taker.take(owner, wanted, record)) return 'outdated'
    // An old name that another app has may be free again, or be taken now: no record of this app tells.
    const isShared = others.size > 0 || jobsElsewhere(core).length > 0
    if (isShared || refused.some(({ code }) => PASSING.has(code))) progress = 'unfinished'
    core.claimAlarm.ring()
    return progress
  }

  /** One id for two releases: then both names belong to the deployment, and are two jobs. */
  const reportIgnoredRenames = (record: AppRecord): void => {
    const { declares, explicit } = findDeployment(record, deployment)!
    for (const { id: schedule, was } of declared) {
      if (was === undefined || !explicit || !declares.includes(was) || names.includes(was)) continue
      const message = `The rename of ${was} to ${schedule} is ignored, and both run: processes of the deployment ${deployment} declare both names. Give each release an id of its own.`
      reportOnce(`${RENAME_IGNORED} ${schedule}`, { schedule, code: RENAME_IGNORED, message })
    }
  }

  const wishOn = (state: ScheduleState | null, wish: Wish, states: ReadonlyMap<string, ScheduleState>): DefineWish => {
    const read = atInstant.get(wish.id)
    const onRecord = read?.version === state?.version ? read?.records : undefined
    return { ...wish, holder: otherHolder(wish, state, states), onRecord }
  }

  /**
   * Also what ran under other names of the job. A fire is put on record together with a new version of its schedule, so the records read
   * here are those of `state` or newer.
   */
  const readInstant = async (read: Read, { definition: { trigger }, otherNames }: Wish) => {
    const records: FireRecord[] = []
    if (trigger?.kind !== 'at') return { ...read, records }
    for (const schedule of [read.id, ...otherNames]) {
      const query = { ...ofFire({ schedule, dueAt: trigger.at, nonce: '' }), after: null, limit: BATCH }
      const { items } = await callStore(core, 'declare (look)', () => listFires(store, query))
      records.push(...items)
    }
    return { ...read, records }
  }

  const refusalOf = (schedule: string, { refused, message, hint }: Refusal): RefusedDeclaration => {
    const { host, pid } = core.settings
    const about = { schedule, deployment, instance: core.fleet.instance, host, pid }
    return { ...about, code: refused, message: `${message} ${hint}`, at: core.time.estimate() }
  }

  /** Both sides report each cause once; operators find it in the record. `null`: another process was faster. */
  const reportRefusals = async (record: AppRecord): Promise<AppRecord | null> => {
    // Where processes only call `runDue`, no other process removes the refusals of those that have ended.
    const others = record.refused.filter(
      (one) => one.instance !== core.fleet.instance && names.includes(one.schedule) && isLive(one),
    )
    for (const { schedule, code, message } of refusals) reportOnce(`${code} ${schedule}`, { schedule, code, message })
    for (const { schedule, code, message, instance, deployment: its, host, pid } of others) {
      // One report for each cause: a process whose own declaration is refused for it has reported it already.
      if (refusals.some((own) => own.code === code && own.schedule === schedule)) continue
      const process = { instance, deployment: its, host, pid }
      reportOnce(`${code} ${schedule} ${its}`, { schedule, code, message, process })
    }
    const next = recordRefusals(record, core.fleet.instance, refusals)
    if (next === null) return record
    return (await save(next)) ? next : null
  }

  const reportOnce = (key: string, about: Omit<EventOf<'schedule.refused'>, 'type' | 'job'>): void => {
    if (reportedRefusals.has(key)) return
    reportedRefusals.add(key)
    emit({ type: 'schedule.refused', job: about.schedule, ...about })
  }

  /** Live processes of other apps that declare a schedule which this process declares, too: one for each app and schedule. */
  const findRivals = (): readonly Rival[] => {
    const found = new Map<string, Rival>()
    const own = new Set(names.filter((name) => !refusals.some(({ schedule }) => schedule === name)))
    for (const peer of core.fleet.peers.filter((one) => one.app !== app)) {
      for (const schedule of peer.jobs.filter((name) => own.has(name))) {
        const key = `${NAME_TAKEN} ${schedule} of ${peer.app}`
        if (!reportedRefusals.has(key) && !lookedUp.has(key) && !found.has(key)) found.set(key, { key, schedule, peer })
      }
    }
    return [...found.values()]
  }

  /**
   * Report the declarations of other apps that are refused because this app has the name. The store decides which app has it: if this
   * process hung, another app may have taken over the name since its last declaration.
   */
  const reportRivals = async (): Promise<void> => {
    const found = rivals
    rivals = []
    for (let start = 0; start < found.length; start += BATCH) {
      const batch = found.slice(start, start + BATCH)
      const ids = [...new Set(batch.map(({ schedule }) => schedule))]
      const { schedules } = await callStore(core, 'deploy (look)', () => store.load(ids))
      const held = new Set(schedules.filter((state) => isOwn(state) && state.retiredAt === null).map(({ id }) => id))
      for (const { key, schedule, peer } of batch) {
        lookedUp.add(key)
        if (!held.has(schedule)) continue
        const message = `The app ${peer.app} declares a job ${schedule} as well, which is refused there: ${app} alone runs it. Rename one of the two jobs.`
        const process = { instance: peer.id, deployment: peer.deployment, host: peer.host, pid: peer.pid }
        reportOnce(key, { schedule, code: NAME_TAKEN, message, process })
      }
    }
  }

  const observe = (): void => {
    watch.observe()
    if (kept !== null) rivals = findRivals()
  }

  const wishesUnder = (record: AppRecord): ReadonlyMap<string, Wish> => {
    const source = { kind: 'code' as const, app, number: findDeployment(record, deployment)!.number }
    const standing = { app: record, deployment }
    const names = namesOfJobs(record)
    return new Map(
      declared.map(({ id, was, definition }) => {
        const otherNames = [...(names.get(id) ?? [])].filter((name) => name !== id)
        return [id, { id, was, definition, source, standing, otherNames }]
      }),
    )
  }

  const isOwn = (state: ScheduleState): boolean => isOf(state, app)

  /**
   * Write decisions that depend on the app's record. An instant that is on record already is passed over first, as an instance does that
   * plans.
   */
  const change = async (
    operation: string,
    ids: readonly string[],
    decide: Decide,
    record: AppRecord,
  ): Promise<Progress> => {
    let isDone = true
    const changed = new Map<string, Changed>()
    const decideOne: Decide = (id, state, context) => {
      const inTheWay = onRecord.get(id)
      // Another app's schedule is not planned here.
      const isPassed = state === null || !isOwn(state) || inTheWay === undefined || nextBackfillStretch(state) !== null
      const passed = isPassed ? null : advance(state, context, null, inTheWay)
      if (passed !== null) isDone = false
      return passed ?? decide(id, state, context)
    }
    const guard = { app: { name: record.name, version: record.version } }
    try {
      await changeSchedules(core, operation, ids, decideOne, guard, changed)
    } catch (error) {
      const { code } = describeError(error)
      if (code === 'APP_CHANGED') return 'outdated'
      // A schedule that another transaction has locked keeps no instance from starting.
      if (code !== 'CONTENTION') throw error
      isDone = false
    }
    for (const [id, outcome] of changed) {
      const met = onRecord.get(id) ?? []
      onRecord.delete(id)
      if (outcome.kind !== 'refused') continue
      isDone = false
      // All that were met so far: of two on record, each would make this process forget the other.
      if (outcome.result.kind === 'exists') onRecord.set(id, [...met, outcome.result.fire].slice(-BATCH))
    }
    return isDone ? 'done' : 'unfinished'
  }

  const forget = (): void => {
    kept = null
    declaredUnder = ''
    watch.restart()
  }

  return { keep, observe, isWanted, restMs, forget }

  function isPresent(peer: InstanceRecord): boolean {
    return ofApp(peer, app)
  }
}

/** A schedule whose records were read, as of this version. Without a version: it did not exist. */
interface Read {
  readonly id: string
  readonly version: number | undefined
}

/** A live process of another app that declares a schedule of this process. */
interface Rival {
  readonly key: string
  readonly schedule: string
  readonly peer: InstanceRecord
}

/** By id, of the deployments that count: their instances claim first what they define. */
function numbersOf(record: AppRecord): ReadonlyMap<string, number> {
  return new Map(record.deployments.filter(counts).map(({ id, number }) => [id, number]))
}
