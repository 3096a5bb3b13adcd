import type { AppRecord, DeploymentRecord } from '../../model/app.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { announceRetirements, counts, markTidied, newestExplicit } from '../../policy/deploy/deployment.ts'
import { type RetireWish, retire } from '../../policy/deploy/retire.ts'
import { judgeRetirement, type Observation, type Verdict } from '../../policy/deploy/retirement.ts'
import { endOverdue } from '../../policy/plan/advance.ts'
import type { Page, ScheduleQuery } from '../../store/store.ts'
import type { Decide } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import { type FleetWatch, ofApp } from './watch-deployments.ts'

/** Retires what left the code of the app. */
export interface Retirer {
  /** One pass over the app's schedules, if there may be something to retire and it is this instance's turn. */
  pass(record: AppRecord): Promise<{ readonly progress: Progress; readonly record: AppRecord }>
}

/** `outdated`: the app's record changed meanwhile. */
export type Progress = 'done' | 'unfinished' | 'outdated'

type Change = (operation: string, ids: readonly string[], decide: Decide, record: AppRecord) => Promise<Progress>

const BATCH = 200
/** How many leases an instance waits for an elder one, at most. */
const TURNS = 5
/** Frozen fires of retired schedules are looked for this often. */
const FROZEN_MS = 3_600_000

export function retirer(core: Core, watch: FleetWatch, change: Change): Retirer {
  const { app, deployment, holdDownMs, leaseMs } = core.settings
  const { store, clock } = core.parts
  /** Since when (monotonic) a pass is needed. */
  let neededSince: number | null = null
  let lookedForFrozenAt = clock.mono()

  /** Only an instance that has lived for the hold-down retires; an operator's choice is followed at once. */
  const isNeeded = (record: AppRecord): boolean => {
    const newest = newestExplicit(record)
    const isChosen = newest !== null && record.activated === newest.id && newest.id === deployment
    if (isChosen && record.tidiedFor !== newest.number) return true
    if (watch.livedMs() < holdDownMs) return false
    if (record.deployments.some(({ lost, cleared }) => lost && !cleared)) return true
    return newest !== null && watch.steadyIds().has(newest.id) && record.tidiedFor !== newest.number
  }

  const isFrozenDue = (record: AppRecord): boolean =>
    record.retired.length > 0 && watch.rank() === 0 && clock.mono() - lookedForFrozenAt >= FROZEN_MS

  const pass = async (record: AppRecord): Promise<{ progress: Progress; record: AppRecord }> => {
    if (isFrozenDue(record)) await endFrozen()
    if (!isNeeded(record)) {
      neededSince = null
      return { progress: 'done', record }
    }
    neededSince ??= clock.mono()
    // The eldest instance does it; the others step in one after the other if it does not.
    if (clock.mono() - neededSince < Math.min(watch.rank(), TURNS) * leaseMs) return { progress: 'unfinished', record }
    const states = (await listSchedules()).filter(({ retiredAt }) => retiredAt === null)
    const verdicts = await judge(record, states)
    const gone = new Map(
      [...verdicts].flatMap(([id, verdict]) => (verdict.kind === 'retire' ? [[id, verdict] as const] : [])),
    )
    let current = record
    if (gone.size > 0) {
      current = announceRetirements(record, [...gone.keys()])
      if (!(await callStore(core, 'retire (announce)', () => store.saveApp(current))))
        return { progress: 'outdated', record }
      let isDone = true
      await core.parts.sync('retire:sent')
      const decide: Decide = (id, state, context) => {
        const { cause, by } = gone.get(id)!
        const wish: RetireWish = { app, cause, ...by }
        const decision = state === null ? null : retire(state, wish, context)
        // More is due than one step settles.
        if (decision !== null && decision.change.state?.retiredAt === null) isDone = false
        return decision
      }
      const progress = await change('retire', [...gone.keys()], decide, current)
      if (progress !== 'done' || !isDone)
        return { progress: progress === 'outdated' ? progress : 'unfinished', record: current }
    }
    return { progress: 'done', record: await tidied(current, verdicts) }
  }

  const judge = async (record: AppRecord, states: readonly ScheduleState[]): Promise<ReadonlyMap<string, Verdict>> => {
    // Listed after the record and the schedules were read: a process that declares one has joined before.
    const { now, instances } = await callStore(core, 'retire (look)', () => store.listInstances({ app }))
    const seen: Observation = {
      ...{ now, instances: instances.filter((peer) => ofApp(peer, app)) },
      ...{ steady: watch.steadyIds(), absent: watch.absentIds(record), outwaited: watch.outwaited() },
      active: new Set(states.map(({ id }) => id)),
    }
    // The instances of the deployment that an operator chose follow at once: they know what goes on under another name.
    const judged = record.activated === deployment ? record : { ...record, activated: null }
    return new Map(states.map((state) => [state.id, judgeRetirement(judged, state, seen)]))
  }

  /** Note what needs no further pass. Another process that is faster does it again. */
  const tidied = async (record: AppRecord, verdicts: ReadonlyMap<string, Verdict>): Promise<AppRecord> => {
    const left = [...verdicts].filter(([, { kind }]) => kind === 'wait' || kind === 'contested').map(([id]) => id)
    // A lost one may be live, on probation: what it declares counts until it is gone.
    const absent = watch.absentIds(record)
    const isOver = ({ id, lost, declares }: DeploymentRecord): boolean =>
      lost && absent.has(id) && !declares.some((schedule) => left.includes(schedule))
    const cleared = record.deployments.filter(isOver)
    const newest = newestExplicit(record)
    const isTidy = newest !== null && counts(newest) && left.length === 0
    const next = markTidied(record, isTidy ? newest.number : record.tidiedFor, new Set(cleared.map(({ id }) => id)))
    if (next === null) return record
    return (await callStore(core, 'retire (tidy)', () => store.saveApp(next))) ? next : record
  }

  const listSchedules = async (): Promise<ScheduleState[]> => {
    const states: ScheduleState[] = []
    for (let after: string | null = null; ; ) {
      const query: ScheduleQuery = { app, after, limit: BATCH }
      const page: Page<ScheduleState> = await callStore(core, 'retire (list)', () => store.listSchedules(query))
      states.push(...page.items)
      if (page.next === null) return states
      after = page.next
    }
  }

  /** No instance has the job of a retired schedule, so none claims it, and its frozen fires would stay for ever. */
  const endFrozen = async (): Promise<void> => {
    lookedForFrozenAt = clock.mono()
    const isFrozen = ({ retiredAt, open }: ScheduleState): boolean => retiredAt !== null && open.length > 0
    const ids = (await listSchedules()).filter(isFrozen).map(({ id }) => id)
    const decide: Decide = (_, state, context) => (state === null ? null : endOverdue(state, context))
    const { app: record } = await callStore(core, 'retire (read)', () => store.loadApp(app))
    if (record !== null) await change('retire (end)', ids, decide, record)
  }

  return { pass }
}
