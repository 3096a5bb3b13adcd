import type { FireRecord } from '../model/record.ts'
import type { OpenFire, ScheduleState } from '../model/schedule.ts'
import { advance } from '../policy/advance.ts'
import { nextBackfillStretch } from '../policy/backfill.ts'
import { canMaterialise } from '../policy/bounds.ts'
import type { Claimant, Context, Decision, StartedRun } from '../policy/decision.ts'
import { mayPlan, moveZone } from '../policy/move-zone.ts'
import { advancePlain } from '../policy/plain.ts'
import { listFires } from '../store/list-views.ts'
import type { ChangeResult, Due, DueQuery } from '../store/store.ts'
import type { Core } from './core.ts'
import { describeError } from './describe-error.ts'
import { isPutOff } from './put-off.ts'
import { dealer, takesNew } from './spread.ts'
import { callStore, pauseAfter } from './store-calls.ts'
import { leaseHolds } from './trust.ts'

/** Plans and claims what is due: the loop that looks, and one look for those who do without the loop. */
export interface Claimer {
  /** Until the engine stops. Never rejects. */
  loop(): Promise<void>
  /** One look. Answers how long there is nothing more to do, 0 if there may be more. Throws when the store does. */
  look(options?: LookOptions): Promise<number>
  /** Resolves when no claim is under way. */
  answered(): Promise<void>
}

export interface LookOptions {
  readonly patienceMs: number
  /** Leave what becomes due after the first look that was told so. */
  readonly isLast?: boolean
}

/** What a look with nothing to come waits for: a ring. Bounded, so that a lost one costs time and nothing else. */
const LONG_MS = 3_600_000
const BATCH = 500
/** Schedules in one write, so that the first runs start while the last ones are still being claimed. */
const PART = 125
/** Whoever has enough to do, or sees that the others are at it, gives them so many times longer: to help would be to race. */
const LONG_PATIENCE = 20
/** As long as some of its own are left behind, it leaves the others' to them however long they wait: all of it may. */
const ENDLESS_MS = 9e15
/** Whoever meets a limit that is used up asks again after so long, and less and less often: its holder may take hours. */
const FULL_MS = 250
const FULL_LONGEST_MS = 4_000
/** What has been due for this long, and was not claimed, is planned also by an instance that has had no room for as long. */
const LEFT_MS = 1_000
/** The same if it has room again and again, and never enough. Longer, since a fire that is claimed right away costs the store less. */
const BEHIND_MS = 5_000
/** A look that finds only planned schedules is repeated with a larger limit, up to this many times `BATCH`. */
const MOST_PAGES = 8
/** A fire whose instances keep dying has its instance to itself for so long, then others begin beside it. */
const ALONE_MS = 60_000
/** Between two looks at the schedules of others, times the number of instances: the fleet looks as often as one would. */
const SWEEP_MS = 1_500
const RACES = 3
const FRUITLESS_MS = 100
const FRUITLESS_SHORTEST_MS = 20
const FRUITLESS_LONGEST_MS = 1_000
const EXISTING_LIMIT = 1_000
const NOTHING: readonly FireRecord[] = []
/** After an outage one schedule may have ten thousand instants to settle: so long the event loop is kept from all else. */
const DECIDING_MS = 50

export function claimer(core: Core, start: (run: StartedRun) => void): Claimer {
  const askFor = dealer(core)
  let sweptAt = Number.NEGATIVE_INFINITY
  let fruitless = 0
  /** Due, but not for us: asked for in addition, so that they do not hide what is behind them. */
  let passedOver = 0
  /** The last look left some of our own behind, or met others who were faster. */
  let isPatient = false
  /** Since when it has had no room, by the monotonic clock; `null`: it has room. */
  let fullSince: number | null = null
  /** Since when every look left something due, or since it was last decided what becomes of that; `null`: the last look left nothing. */
  let leftSince: number | null = null
  let planPages = 1
  /** What is due later is not for this instance, which is about to leave. */
  let upTo = Number.POSITIVE_INFINITY
  /** Until then it looks at its own only. */
  let ownUntil = Number.NEGATIVE_INFINITY
  /** Fires found on record although their schedule had not got to them. */
  const onRecord = new Map<string, FireRecord[]>()
  /** By job: how often in a row a limit was used up. */
  const fullTimes = new Map<string, number>()
  let claiming: Promise<unknown> = Promise.resolve()

  const look = async (options: LookOptions = core.settings): Promise<number> => {
    core.agenda.begin()
    await leaseHolds(core)
    const room = roomOf(core)
    const jobs = askFor()
    const ms = room > 0 && jobs.length > 0 ? await lookOnce(options, room, jobs) : untilNotFull(core)
    if (room === 0 || jobs.length === 0) core.leftSome = true
    return core.agenda.end(await planWhatIsLeft(ms, room, jobs), options.patienceMs)
  }

  /** When it was all there was to do, the next thing to do is known, and the store need not be asked for it. */
  const lookOnce = async (
    { patienceMs, isLast = false }: LookOptions,
    room: number,
    jobs: DueQuery['jobs'],
  ): Promise<number> => {
    core.leftSome = true
    const sentAt = core.parts.clock.mono()
    await core.parts.sync('due:sent')
    // One more, to see whether that was all.
    const limit = Math.min(BATCH, room + passedOver + 1) + core.undecided.size
    const longMs = patienceMs * LONG_PATIENCE
    // Nobody with no patience at all is going to look again; and what gets nowhere with its own looks at what else there is.
    const isOwn = sentAt < ownUntil && patienceMs > 0 && passedOver === 0
    const query = { jobs, patienceMs: isOwn ? ENDLESS_MS : isPatient ? longMs : patienceMs, limit }
    const found = await callStore(core, 'due', () => core.parts.store.due(query))
    if (isLast) upTo = Math.min(upTo, found.now)
    // Some are due for good, and nothing to do here.
    const isFor = (state: ScheduleState): boolean => !core.undecided.has(state) && wasDue(state, upTo)
    const due = { ...found, schedules: found.schedules.filter(isFor) }
    core.time.observe(due.now, sentAt)
    if (!core.epochs.observe(due.epoch)) return FRUITLESS_LONGEST_MS
    sweptAt = sentAt
    const isBehind = due.mineAt !== null && due.mineAt <= due.now
    // Others may be in need of help for good, although they live: who is behind for good looks after them now and then.
    if (!isBehind) ownUntil = Number.NEGATIVE_INFINITY
    else if (!isOwn) ownUntil = sentAt + spacingMs(core)
    const mayHelp = isOwn && !isBehind && due.othersAt !== null && due.othersAt <= due.now - longMs
    isPatient = isBehind || mayHelp
    if (core.stopping) return LONG_MS
    if (due.schedules.length === 0) {
      passedOver = 0
      fruitless = 0
      core.leftSome = false
      return isLast ? LONG_MS : mayHelp ? 0 : waitMs(core, due, sweptAt)
    }
    // With a backlog, throughput counts: fewer, larger writes cost the store less.
    const claimed = claim(due, room, isBehind ? BATCH : PART)
    claiming = claimed.catch(() => {})
    const results = await claimed
    const isApplied = results.some(({ kind }) => kind === 'applied')
    // Others who were faster have changed what is due; a few looks later that is no explanation any more.
    const isConflict = results.some(({ kind }) => kind === 'conflict')
    const isRace = isConflict && fruitless < RACES
    if (isConflict) isPatient = true
    passedOver = isApplied || isRace ? 0 : due.schedules.length
    fruitless = isApplied ? 0 : fruitless + 1
    const isComplete = found.schedules.length < limit && results.length === due.schedules.length
    if (isComplete && core.failedAt() < sentAt && results.every(({ kind }) => kind === 'applied')) {
      core.leftSome = false
      return mayHelp ? 0 : waitMs(core, due, sweptAt)
    }
    if (isApplied || isRace) return 0
    // What is not for us now must not make what is for us late.
    const next = Math.max(FRUITLESS_SHORTEST_MS, waitMs(core, due, sweptAt))
    return Math.min(FRUITLESS_LONGEST_MS, FRUITLESS_MS * fruitless, next)
  }

  const claim = async (due: Due, room: number, most: number): Promise<readonly ChangeResult[]> => {
    const claim = ++core.claims
    const decisions = await decide(due, claim, room)
    if (decisions.length === 0) return []
    core.claiming.add(claim)
    try {
      const parts = Array.from({ length: Math.ceil(decisions.length / most) }, (_, index) =>
        decisions.slice(index * most, (index + 1) * most),
      )
      // All of them end before anything is thrown: what was claimed is started, whatever became of the others.
      const sent = await Promise.allSettled(parts.map((part) => claimPart(part, claim)))
      const results = sent.flatMap((part) => {
        if (part.status === 'rejected') throw part.reason
        return part.value
      })
      const full = new Set(
        decisions.filter((_, index) => results[index]!.kind === 'full').map(({ change }) => change.id),
      )
      if (full.size > 0) await planOnly({ ...due, schedules: due.schedules.filter(({ id }) => full.has(id)) })
      return results
    } finally {
      core.claiming.delete(claim)
    }
  }

  const claimPart = async (decisions: readonly Decision[], claim: number): Promise<readonly ChangeResult[]> => {
    const results = await sendClaim(core, decisions, claim)
    follow(decisions, results)
    return results
  }

  const decide = async (due: Due, claim: number, room: number): Promise<Decision[]> => {
    const context = core.context(due)
    const newest = newestZoneData(core)
    const decisions: Decision[] = []
    let left = room
    let idle = core.runs.working === 0
    const begunAt = core.parts.clock.mono()
    for (const state of due.schedules) {
      // What is decided is claimed; the rest is still due at the next look.
      if (left === 0 || (decisions.length > 0 && core.parts.clock.mono() - begunAt > DECIDING_MS)) break
      if (!hasJobOf(core, state) || !mayPlan(state, core.settings.zoneData, newest(state.definition.job))) continue
      const claimant = { instance: core.instance, claim, room: left, idle }
      const known = state.backfills.length > 0 ? await existingOf(core, state, onRecord) : onRecord.get(state.id)
      const decision = core.undecided.try(state, () => decideOn(state, context, claimant, known ?? NOTHING))
      if (decision === null || (!idle && isPutOff(state, decision))) continue
      decisions.push(decision)
      left -= decision.started.length
      if (decision.started.length > 0) idle = false
      // It runs alone: whatever else is due waits, or is somebody else's.
      if (decision.started.some(({ suspect }) => suspect)) break
    }
    return decisions
  }

  /** Plans schedules that stay due because no instance claims them, so that their instants are decided in time. */
  const planWhatIsLeft = async (ms: number, room: number, jobs: DueQuery['jobs']): Promise<number> => {
    const now = core.parts.clock.mono()
    if (room > 0) fullSince = null
    if (!core.leftSome) leftSince = null
    if (!core.leftSome || !mayStart(core) || jobs.length === 0) return ms
    leftSince ??= now
    if (room === 0) fullSince ??= now
    const planInMs = Math.min(leftSince + BEHIND_MS, (fullSince ?? now + LEFT_MS) + LEFT_MS) - now
    if (planInMs > 0) return room === 0 ? planInMs : ms
    leftSince = now
    const restMs = await planWhileBusy(jobs)
    return room === 0 ? restMs : ms
  }

  const planWhileBusy = async (jobs: DueQuery['jobs']): Promise<number> => {
    const sentAt = core.parts.clock.mono()
    const limit = BATCH * planPages
    const due = await callStore(core, 'due', () => core.parts.store.due({ jobs, patienceMs: LEFT_MS, limit }))
    core.time.observe(due.now, sentAt)
    if (!core.epochs.observe(due.epoch)) return FRUITLESS_LONGEST_MS
    const left = due.schedules.filter(({ wakeAt }) => wakeAt !== null && wakeAt <= due.now - LEFT_MS)
    const isAnyPlanned = await planOnly({ ...due, schedules: left })
    planPages = isAnyPlanned || due.schedules.length < limit ? 1 : Math.min(planPages * 2, MOST_PAGES)
    // Of what waits for room, further instants may come.
    if (due.schedules.length > 0) return LEFT_MS
    return Math.max(LEFT_MS, Math.min(untilNotFull(core), waitMs(core, due, sentAt)))
  }

  /** Plans these schedules without starting a run. True: at least one has changed. */
  const planOnly = async (found: Pick<Due, 'now' | 'epoch' | 'schedules'>): Promise<boolean> => {
    const context = core.context(found)
    const newest = newestZoneData(core)
    const decisions: Decision[] = []
    const begunAt = core.parts.clock.mono()
    for (const state of found.schedules) {
      if (decisions.length === BATCH || (decisions.length > 0 && core.parts.clock.mono() - begunAt > DECIDING_MS)) break
      if (!mayPlan(state, core.settings.zoneData, newest(state.definition.job))) continue
      const known = state.backfills.length > 0 ? await existingOf(core, state, onRecord) : onRecord.get(state.id)
      const decision = core.undecided.try(state, () => advance(state, context, null, known ?? NOTHING))
      if (decision !== null && !isPutOff(state, decision)) decisions.push(decision)
    }
    if (decisions.length === 0) return false
    const changes = decisions.map(({ change }) => change)
    follow(decisions, (await callStore(core, 'plan', () => core.parts.store.apply(changes))).results)
    return true
  }

  const follow = (decisions: readonly Decision[], results: readonly ChangeResult[]): void => {
    for (let index = 0; index < decisions.length; index++) {
      const decision = decisions[index]!
      const result = results[index]!
      const { id } = decision.change
      const known = onRecord.get(id) ?? NOTHING
      onRecord.delete(id)
      if (result.kind === 'applied') {
        core.applied(decision)
        for (const run of decision.started) {
          fullTimes.delete(run.record.job)
          start(run)
        }
      } else if (result.kind === 'full') {
        const { job } = decision.started[0]!.record
        const times = fullTimes.get(job) ?? 0
        fullTimes.set(job, times + 1)
        core.fullUntil.set(job, core.parts.clock.mono() + Math.min(FULL_MS * 2 ** times, FULL_LONGEST_MS))
      } else if (result.kind === 'exists') {
        // All that were met so far: of two on record, each would else make the other forgotten.
        onRecord.set(id, [...known, result.fire].slice(-EXISTING_LIMIT))
      } else if (result.kind === 'not-live') {
        core.beatAlarm.ring()
      }
      // `conflict` and `early`: somebody else was faster, or the store's clock went back. The next look tells.
    }
  }

  return {
    look,
    async answered() {
      await claiming
    },
    async loop() {
      for (let failures = 0; !core.stopped.aborted; ) {
        try {
          const ms = await look()
          failures = 0
          await core.claimAlarm.wait(ms)
        } catch (error) {
          const pauseMs = pauseAfter(failures++, core.parts.random)
          core.storeFailed('claim', describeError(error), pauseMs)
          await core.parts.clock.sleep(pauseMs, core.stopped)
        }
      }
    },
  }
}

/**
 * Whether this process has the job: not only one of the same name in another app. One that was renamed goes on under its old name only
 * while that is retired, or as long as the new name is taken: otherwise the name may be that of another job.
 */
function hasJobOf(core: Core, { definition, source, retiredAt }: ScheduleState): boolean {
  if (source.kind === 'client') return !core.foreignJobs.has(definition.job)
  if (source.app !== core.settings.app) return false
  if (core.parts.jobs.has(definition.job) || retiredAt !== null) return true
  const upTo = core.renamedJobs.get(definition.job)?.upTo ?? null
  return upTo !== null && source.number <= upTo
}

function decideOn(
  state: ScheduleState,
  context: Context,
  claimant: Claimant,
  existing: readonly FireRecord[],
): Decision | null {
  const moved = moveZone(state, context)
  if (moved !== null) return moved
  const plain = existing.length === 0 ? advancePlain(state, context, claimant) : null
  return plain ?? advance(state, context, claimant, existing)
}

/** A backfill wakes its schedule with each decision, and was wanted when it began; unless newer fires keep it waiting. */
function wasDue(state: ScheduleState, upTo: number): boolean {
  const isBackfilled = ({ kind, run, attempt }: OpenFire): boolean =>
    kind === 'backfill' && run === null && attempt === 0
  return (state.wakeAt ?? 0) <= upTo || canMaterialise(state) || state.open.some(isBackfilled)
}

/** How many runs may begin here. */
function roomOf(core: Core): number {
  return mayStart(core) && !isSuspectAlone(core) ? Math.max(0, core.admission.capacity() - core.runs.working) : 0
}

/** Not while the lease is in doubt, nor while this instance restores what the store has lost. */
function mayStart(core: Core): boolean {
  return !core.stopping && !core.drained && core.lease.trusted() && !core.lease.jumped() && core.epochs.mayClaim()
}

/** Only for a while: a run that takes its instance down mostly does so soon, and one that lasts for hours must not stop all else. */
function isSuspectAlone({ runs, parts }: Core): boolean {
  const since = parts.clock.mono() - ALONE_MS
  return runs.all().some(({ started, begunAt }) => started.suspect && begunAt > since)
}

function untilNotFull(core: Core): number {
  const ends = [...core.fullUntil.values()]
  return ends.length === 0 ? LONG_MS : Math.max(1, Math.min(...ends) - core.parts.clock.mono())
}

/** Until the next instant of one's own; and until somebody must have looked after what the others should have done. */
function waitMs(core: Core, { mineAt, othersAt }: Due, sweptAt: number): number {
  const mine = mineAt === null ? LONG_MS : core.time.until(mineAt)
  const full = untilNotFull(core)
  if (othersAt === null) return Math.min(mine, full)
  const sweepIn = sweptAt + spacingMs(core) - core.parts.clock.mono()
  const others = Math.max(core.time.until(othersAt + core.settings.patienceMs), sweepIn)
  return Math.max(0, Math.min(mine, others, full))
}

function spacingMs({ peers, parts }: Core): number {
  return SWEEP_MS * peers.length * (0.5 + parts.random())
}

/** By job, of those that could plan it: whoever does not have the job, or takes nothing new, would be waited for in vain. */
function newestZoneData(core: Core): (job: string) => string {
  const own = core.settings.zoneData
  const newer = core.peers.filter((peer) => peer.zoneData > own && takesNew(peer) && peer.app === core.settings.app)
  return (job) =>
    newer.reduce((newest, { zoneData, jobs }) => (zoneData > newest && jobs.includes(job) ? zoneData : newest), own)
}

async function existingOf(
  core: Core,
  state: ScheduleState,
  onRecord: ReadonlyMap<string, FireRecord[]>,
): Promise<readonly FireRecord[]> {
  const found = onRecord.get(state.id) ?? []
  const stretch = core.undecided.try(state, () => nextBackfillStretch(state))
  if (stretch === null) return found
  const query = { schedule: state.id, from: stretch.from, to: stretch.to + 1, order: 'earliest' as const }
  const page = await callStore(core, 'backfill', () =>
    listFires(core.parts.store, { ...query, after: null, limit: EXISTING_LIMIT }),
  )
  return [...page.items, ...found]
}

/** Write claims, and say what came of each, also if the answer was lost. */
export async function sendClaim(
  core: Core,
  decisions: readonly Decision[],
  claim: number,
): Promise<readonly ChangeResult[]> {
  const { leaseMs } = core.settings
  const claimant = { instance: core.instance, leaseMs }
  const changes = decisions.map(({ change }) => change)
  // Whoever runs what is to be replaced would hear of it with its next beat; the new fire waits for that.
  const wake = changes.some(({ state }) => state?.open.some(({ run }) => run !== null && run.cancel !== null))
  const sent = core.lease.times()
  await core.parts.sync('claim:sent')
  try {
    const applied = await callStore(core, 'claim', () => core.parts.store.apply(changes, { claimant, wake }))
    await core.parts.sync('claim:answered')
    core.storeAnswered()
    core.time.observe(applied.now, sent.mono)
    if (applied.renewed && claimant.instance === core.instance) core.lease.renewed(sent, leaseMs)
    return applied.results
  } catch (error) {
    core.storeFailed('claim', describeError(error), 0)
    return findClaimed(core, decisions, claimant.instance, claim)
  }
}

/**
 * The answer was lost. What the store says this claim holds is ours; for the rest, a claim that arrives after all is handed
 * back when a beat finds it.
 */
async function findClaimed(
  core: Core,
  decisions: readonly Decision[],
  instance: string,
  claim: number,
): Promise<readonly ChangeResult[]> {
  const ids = decisions.map(({ change }) => change.id)
  const { schedules } = await callStore(core, 'claim (look)', () => core.parts.store.load(ids))
  const held = new Set(
    schedules.flatMap(({ id, open }) =>
      open
        .filter(({ run }) => run?.instance === instance && run.claim === claim)
        .map(({ run }) => `${run!.token} ${id}`),
    ),
  )
  return decisions.map(({ started, change }) => {
    const isApplied = started.length > 0 && started.every(({ record }) => held.has(`${record.token} ${change.id}`))
    return { kind: isApplied ? 'applied' : 'conflict' }
  })
}
