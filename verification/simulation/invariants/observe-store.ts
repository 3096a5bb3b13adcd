import type { Change } from '../../../packages/cronce/src/model/change.ts'
import type { RunRecord } from '../../../packages/cronce/src/model/record.ts'
import {
  fireKeyText,
  lineKeyText,
  type NamespaceData,
  stepKeyText,
} from '../../../packages/cronce/src/store/memory/data.ts'
import type { MemorySource } from '../../../packages/cronce/src/store/memory/memory.ts'
import type { MemoryTransaction } from '../../../packages/cronce/src/store/memory/transaction.ts'
import type {
  ApplyOptions,
  InstanceMark,
  StepAnswer,
  StepCommand,
  Store,
} from '../../../packages/cronce/src/store/store.ts'
import {
  checkBeat,
  checkBurial,
  checkDeployment,
  checkInstance,
  checkLeases,
  checkRetirement,
  checkStep,
  type Presence,
  presenceKey,
} from './check-members.ts'
import { checkGone, checkRecords } from './check-records.ts'
import { checkRuns, checkStart } from './check-runs.ts'
import type { ActivityJudge } from './judge-activity.ts'
import {
  type Captured,
  capture,
  createMirror,
  follow,
  type Mirror,
  type Step,
  touchedFires,
  touchedRuns,
} from './mirror.ts'
import type { Report } from './report.ts'

type Tx = MemoryTransaction

/** Callbacks for writes to the store, for the recorder of the history. */
export interface Watcher {
  readonly changed: (step: Step) => void
  /** The list of instances may have changed. */
  readonly membersChanged: () => void
  readonly committed: (step: Step) => void
  readonly stepped: (who: string, command: StepCommand, answer: StepAnswer) => void
  readonly count: (what: string) => void
  /** A change with a line of the operator log was sent. */
  readonly logged: ActivityJudge['sent']
}

export interface Observed {
  /** The store as this process sees it: every change of it is looked at right when it is made. */
  readonly watch: (store: Store<Tx>, who: string) => Store<Tx>
  readonly mirror: Mirror
  /** A handler was called. */
  readonly started: (run: Pick<RunRecord, 'schedule' | 'token'>) => void
  /** At the end: nothing was written or went behind our back. */
  readonly finish: () => void
}

export interface Surroundings {
  readonly source: MemorySource
  readonly storeNow: () => number
  readonly worldNow: () => number
  readonly holdDownMs: number
  readonly claimAheadMs: number
  readonly report: Report
  readonly watcher: Watcher
}

/** A transaction between its decision and its answer. */
interface Pending {
  readonly who: string
  readonly change: Change
  readonly before: Captured
  readonly effects: number
}

/**
 * The store completes a call before it returns, except for transactions: those are examined when they are answered, or
 * before the next call, whichever comes first.
 */
export function observeStore(surroundings: Surroundings): Observed {
  const { source, storeNow, worldNow, holdDownMs, claimAheadMs, report, watcher } = surroundings
  const data = (): NamespaceData => source.data.namespaces.get('default')!
  const mirror = createMirror(data, claimAheadMs)
  const renewedAt = new Map<string, number>()
  const presence: Presence = new Map()
  let pending: Pending[] = []

  const note = (step: Step): void => {
    checkRecords(step, mirror, report)
    checkRuns(step, mirror, report)
    checkRetirement(step, data(), holdDownMs, report)
    watcher.changed(step)
    follow(mirror, step)
  }
  /** After all that was written at once is followed. */
  const noteGone = (): void => {
    if (data().history.size !== mirror.lineCount) checkGone(mirror, storeNow(), report, watcher.count)
  }
  const stepOf = (who: string, change: Change, before: Captured, after: Captured, claimant: string | null): Step => ({
    ...{ who, now: storeNow(), change, claimant, before: before.state, after: after.state },
    fires: touchedFires(before, after),
    runs: touchedRuns(before, after),
  })
  /** Transactions that were decided: they are in the store by now, or never will be. */
  const settlePending = (): void => {
    const decided = pending
    pending = []
    for (const { who, change, before, effects } of decided) {
      const after = capture(mirror, change, before)
      if (after.state === before.state) {
        if (source.data.effects.size !== effects) report('S6 transaction', `${change.id}: effects without a settlement`)
        continue
      }
      const step = stepOf(who, change, before, after, null)
      watcher.committed(step)
      note(step)
      noteGone()
    }
  }

  const bury = async (store: Store<Tx>, mark: InstanceMark): Promise<boolean> => {
    settlePending()
    const before = data().instances.get(mark.instance)
    const answer = store.mark(mark)
    const after = data().instances.get(mark.instance)
    checkInstance(mark.instance, before, after, report)
    const sinceRenewalMs = worldNow() - (renewedAt.get(mark.instance) ?? 0)
    const isHint = mark.kind === 'dead' && mark.hint
    checkBurial(mark.instance, before, after, { sinceRenewalMs, isHint }, report)
    if (after !== before && after?.record.state === 'dead') watcher.count('declared dead')
    watcher.membersChanged()
    return answer
  }

  const apply = (store: Store<Tx>, who: string): Store<Tx>['apply'] => {
    return async (changes: readonly Change[], options?: ApplyOptions<Tx>) => {
      settlePending()
      const isOver = options?.claimant !== undefined && data().instances.get(options.claimant.instance)?.goneAt !== null
      const before = changes.map((change) => capture(mirror, change))
      const answer = store.apply(changes, options)
      const after = changes.map((change, index) => capture(mirror, change, before[index]))
      const claimant = options?.claimant?.instance ?? null
      const steps = changes.map((change, index) => stepOf(who, change, before[index]!, after[index]!, claimant))
      // In the order in which they were written, and before the next write.
      for (const step of steps) if (isWritten(step)) note(step)
      for (const [index, { activity }] of changes.entries()) {
        if (activity !== undefined) watcher.logged(activity, isWritten(steps[index]!), data().activity.has(activity.id))
      }
      if (isOver && steps.some(isWritten))
        report('S4 no resurrection', `${claimant} was over, and its claim was written`)
      noteGone()
      const applied = await answer
      for (const [index, { kind }] of applied.results.entries()) {
        watcher.count(`apply ${kind}`)
        if ((kind === 'applied') !== isWritten(steps[index]!)) {
          report(
            'S3 fence',
            `a change of ${changes[index]!.id} by ${who} was answered ${kind}, and the store says otherwise`,
          )
        }
      }
      if (claimant !== null && applied.renewed) renewedAt.set(claimant, worldNow())
      return applied
    }
  }

  const watch = (store: Store<Tx>, who: string): Store<Tx> => ({
    ...store,
    // Spread takes a getter's value, and the epoch may move.
    get info() {
      return store.info
    },
    apply: apply(store, who),
    async beat(beat) {
      settlePending()
      const { id } = beat.instance
      const before = data().instances.get(id)
      const answer = store.beat(beat)
      const after = data().instances.get(id)
      checkInstance(id, before, after, report)
      if (after !== before) renewedAt.set(id, worldNow())
      for (const { record, goneAt, leaseUntil } of data().instances.values()) {
        if (goneAt === null && leaseUntil > storeNow()) presence.set(presenceKey(record), worldNow())
      }
      watcher.membersChanged()
      const answered = await answer
      // A store that was closed meanwhile refuses, and writes nothing.
      checkLeases(data().instances, storeNow(), report)
      checkBeat(id, before, answered, report)
      if (!answered.alive) watcher.count('renewal refused')
      return answered
    },
    mark(mark) {
      if (mark.kind === 'dead') return bury(store, mark)
      const answer = store.mark(mark)
      watcher.membersChanged()
      return answer
    },
    annotate(notes) {
      const answer = store.annotate(notes)
      // The caller follows the answer itself. One more promise in between would change the order of what happens at one moment.
      void answer.then(
        ({ stale }) => {
          if (stale.length > 0) watcher.count('annotate stale')
        },
        () => {},
      )
      return answer
    },
    async step(command) {
      settlePending()
      const key = stepKeyText(fireKeyText(command.fire), command.step)
      const before = data().steps.get(key)
      const answer = store.step(command)
      const after = data().steps.get(key)
      const answered = await answer
      checkStep(command, before, after, answered, data(), report)
      watcher.stepped(who, command, answered)
      return answered
    },
    async transact(transaction) {
      settlePending()
      const answered = await store.transact({
        ...transaction,
        settle(state, now, value) {
          settlePending()
          const change = transaction.settle(state, now, value)
          const effects = source.data.effects.size
          if (change !== null) pending.push({ who, change, before: capture(mirror, change), effects: effects - 1 })
          return change
        },
      })
      settlePending()
      watcher.count(`transaction ${answered.kind}`)
      return answered
    },
    async saveApp(app) {
      const before = data().apps.get(app.name)
      const answer = store.saveApp(app)
      const after = data().apps.get(app.name)
      const isForced = who === 'operator'
      const present = [...data().instances.values()].filter(
        ({ goneAt, record }) => goneAt === null && record.app === app.name,
      )
      const joined = present.map(({ record }) => record.deployment)
      // In the order of joining: an instance that joins registers its deployment by those that it finds.
      const first = joined.indexOf(app.active ?? '')
      const live = new Set(first < 0 ? joined : joined.slice(0, first))
      const seen = { now: storeNow(), worldNow: worldNow(), holdDownMs, presence, live }
      if (after !== before && !isForced) checkDeployment(before, app, seen, report)
      return answer
    },
    async listEnds(query) {
      // A transaction that a feed can see is on record here, too.
      settlePending()
      return store.listEnds(query)
    },
    async prune(limit) {
      settlePending()
      const answer = store.prune(limit)
      noteGone()
      return answer
    },
  })

  return {
    watch,
    mirror,
    started: (run) => checkStart(run, mirror, report),
    finish() {
      settlePending()
      for (const lines of mirror.lines.values()) {
        for (const line of lines.values()) {
          const key = lineKeyText(line.schedule, line.number)
          if (data().history.get(key) !== line) return report('S12 durability', `line ${key} changed behind our back`)
        }
      }
    },
  }
}

function isWritten({ before, after }: Step): boolean {
  return before !== after
}
