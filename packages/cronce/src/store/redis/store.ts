import type { Change } from '../../model/change.ts'
import type { FireKey, StepRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { findTwin } from '../matches.ts'
import type {
  Applied,
  ApplyOptions,
  Beat,
  BeatAnswer,
  ChangeResult,
  OpenOptions,
  StepAnswer,
  StepCommand,
  Store,
} from '../store.ts'
import { StoreError } from '../store-error.ts'
import { WakeUp } from '../wake-up.ts'
import { warnNewer } from '../warn-newer.ts'
import { batchesOf, pushChange, resultsOf } from './apply.ts'
import { Definitions } from './definitions.ts'
import { beatValues, listInstances, readBeat } from './instances.ts'
import { decodeName, encodeName, fireName, namespaceKey, neverKey, wakeChannel } from './keys.ts'
import type { Link, Script } from './link.ts'
import { listEnds, listFires, listRuns, listSchedules } from './lists.ts'
import { Liveness } from './liveness.ts'
import { type Answer, Asker } from './moment.ts'
import { readState } from './records.ts'
import { APPLY } from './scripts/apply.ts'
import { BEAT, BURY, DRAIN, ERASE, PRUNE } from './scripts/instances.ts'
import { DUE, LOAD, LOAD_APP, SAVE_APP } from './scripts/schedules.ts'
import { ANNOTATE, LIST_STEPS, STEP } from './scripts/steps.ts'

/** So long the others take an instance for one that holds runs, without being told again. */
const BUSY_MS = 60_000
/** So many in one script: nobody else is served meanwhile. */
const BITE = 500

export interface RedisOpening extends Pick<OpenOptions, 'namespace' | 'warn'> {
  readonly prefix: string
  /** An answer counts only when replicas have what it is based on. */
  readonly waits: boolean
}

/** One opening of a namespace. */
export async function openStore(link: Link, { namespace, prefix, waits, warn }: RedisOpening): Promise<Store<never>> {
  const key = namespaceKey(prefix, namespace)
  const session = await link.session()
  const definitions = new Definitions()
  const liveness = new Liveness(link, key)
  const wakeUp = new WakeUp(wakeChannel(key), async () => session)
  // Whoever has to say what the store may have forgotten is waited for.
  const asker = new Asker(link, key, { waits, onMove: () => wakeUp.ring('doubt') })
  const newer = warnNewer(warn, link.name)
  let saidBusyAt = Number.NEGATIVE_INFINITY
  let closing: Promise<void> | null = null

  const requireOpen = (): void => {
    if (closing !== null) throw new StoreError('STORE_CLOSED', `${link.name} was closed.`, { hint: 'Open it again.' })
  }

  const ask = async (script: Script, args: readonly string[]): Promise<Answer> => {
    requireOpen()
    return asker.ask(script, args)
  }

  const askFlag = async (script: Script, args: readonly string[]): Promise<boolean> =>
    (await ask(script, args)).lines[0] === '1'

  const scheduleOf = ([name, head, state, text]: ScheduleLines): ScheduleState | null => {
    const id = decodeName(name)
    const [version, tokens, revision] = head.split(' ', 3) as [string, string, string]
    const definition = definitions.read(id, Number(revision), text)
    const read = readState({ id, version: Number(version), tokens: Number(tokens), state }, definition)
    if (read === null) newer(id)
    return read
  }

  const schedulesOf = (lines: readonly string[], first = 0): ScheduleState[] => {
    const schedules: ScheduleState[] = []
    for (let at = first; at < lines.length; at += 4) {
      const state = scheduleOf([lines[at]!, lines[at + 1]!, lines[at + 2]!, lines[at + 3]!])
      if (state !== null) schedules.push(state)
    }
    return schedules
  }

  const apply = async (changes: readonly Change[], options: ApplyOptions<never> = {}): Promise<Applied> => {
    const results: ChangeResult[] = new Array(changes.length)
    const { wake = false, claimant } = options
    let now = 0
    for (const { changes: batch, places } of changes.length === 0
      ? [{ changes: [], places: [] }]
      : batchesOf(changes)) {
      const twins = batch.map(findTwin)
      const sound = batch.filter((_, index) => twins[index] === null)
      const answer = await afterFirst(now > 0, () => applyBatch(sound, options))
      now = answer.now
      let next = 0
      for (const [index, place] of places.entries()) {
        const fire = twins[index]!
        results[place] = fire === null ? answer.results[next++]! : { kind: 'exists', fire }
      }
    }
    if (claimant !== undefined && results.some(({ kind }) => kind === 'applied') && isNewlyBusy(changes))
      saidBusyAt = performance.now()
    if (wake) wakeUp.ring()
    return { now, results }
  }

  /** What an earlier batch has written is written, whatever becomes of this one. */
  const afterFirst = async <Value>(isLater: boolean, work: () => Promise<Value>): Promise<Value> => {
    try {
      return await work()
    } catch (error) {
      if (!isLater || !(error instanceof StoreError)) throw error
      const { code, message, hint } = error
      throw new StoreError(code, message, { hint, cause: error, notApplied: false })
    }
  }

  const applyBatch = async (
    changes: readonly Change[],
    { claimant, app, wake = false }: ApplyOptions<never>,
  ): Promise<Applied> => {
    const isBusy = claimant !== undefined && isNewlyBusy(changes)
    const args = [
      claimant === undefined ? '' : encodeName(claimant.instance),
      claimant === undefined ? '' : String(claimant.leaseMs),
      wake || isBusy ? session.publish : '',
      wakeUp.channel,
      isBusy ? wakeUp.busyPayload(claimant.instance, wake) : wakeUp.payload,
      app === undefined ? '' : encodeName(app.name),
      app === undefined ? '' : String(app.version),
    ]
    const textOf = (state: ScheduleState): string => definitions.textOf(state)
    for (const change of changes) pushChange(args, change, textOf)
    const { now, lines } = await ask(APPLY, args)
    const results = resultsOf(lines, changes)
    const unfinished = changes.filter((_, index) => results[index] === null)
    if (unfinished.length === 0) return { now, results: results as ChangeResult[] }
    // Another definition than the one that was read here is in the store, or none: this time they bring theirs along.
    for (const { id } of unfinished) definitions.forget(id)
    const again = await afterFirst(true, () => applyBatch(unfinished, { claimant, app, wake }))
    let next = 0
    return { now: again.now, results: results.map((result) => result ?? again.results[next++]!) }
  }

  /** Neighbours watch who holds runs, and hear of it when that begins: not with every claim, but often enough to go on. */
  const isNewlyBusy = (changes: readonly Change[]): boolean =>
    performance.now() - saidBusyAt > BUSY_MS / 2 &&
    changes.some(({ runs }) => runs.some(({ ending }) => ending === null))

  const beat = async (given: Beat): Promise<BeatAnswer> => {
    requireOpen()
    const { id, state } = given.instance
    if (given.join) await liveness.hold(id)
    const isNews = given.join || given.wake === true || state === 'left'
    const args = [...beatValues(given), isNews ? '1' : '0', session.publish, wakeUp.channel, wakeUp.payload]
    const { now, epoch, lines } = await ask(BEAT, args)
    const { alive, number, bases, appVersion, prunable, instances, busy, held, orphans } = readBeat(lines)
    if (number === null || state === 'left') liveness.release(id)
    if (isNews) wakeUp.ring()
    for (const peer of busy) wakeUp.markBusy(peer)
    const lost = asker.isLost(bases, epoch)
    return { alive, number, now, epoch, lost, held, instances, chores: { appVersion, orphans, prunable } }
  }

  const listSteps = async (fire: FireKey): Promise<StepRecord[]> => {
    const steps = new Map<string, StepRecord>()
    let cursor = '0'
    do {
      const { lines } = await ask(LIST_STEPS, [encodeName(fire.schedule), fireName(fire), cursor, String(BITE)])
      const [next = '0', ...rest] = lines
      for (const line of rest) {
        const step = stepOf(fire, line)
        steps.set(step.step, step)
      }
      cursor = next
    } while (cursor !== '0')
    return [...steps.values()].sort((one, other) => one.begunAt - other.begunAt || (one.step < other.step ? -1 : 1))
  }

  const close = async (): Promise<void> => {
    wakeUp.close()
    liveness.close()
    await link.close()
  }

  await ask(LOAD, [])
  // Scripts don't mind if they may not: said once, here, where nobody listens and is woken.
  await link.command(key, [session.publish, neverKey(key), ''])

  return {
    info: {
      name: link.name,
      get epoch() {
        return asker.epoch
      },
      transactions: false,
      get probes() {
        return liveness.isHolding()
      },
      losesWrites: true,
      leaseClock: 'boot',
    },
    async load(ids) {
      const { now, epoch, lines } = await ask(LOAD, [...new Set(ids)].map(encodeName))
      return { now, epoch, schedules: schedulesOf(lines) }
    },
    async due({ jobs, patienceMs, limit }) {
      const args = [
        String(patienceMs),
        String(limit),
        ...jobs.flatMap(({ job, buckets }) => [encodeName(job), buckets]),
      ]
      const { now, epoch, lines } = await ask(DUE, args)
      const [mineAt = '', othersAt = ''] = lines
      return { now, epoch, schedules: schedulesOf(lines, 2), mineAt: instantOf(mineAt), othersAt: instantOf(othersAt) }
    },
    apply,
    beat,
    bury: ({ instance, renewals, hint }) => askFlag(BURY, [encodeName(instance), String(renewals), hint ? '1' : '0']),
    async drain(instance, isWanted) {
      const args = [encodeName(instance), isWanted ? '1' : '0', session.publish, wakeUp.channel, wakeUp.payload]
      const isKnown = await askFlag(DRAIN, args)
      if (isKnown) wakeUp.ring()
      return isKnown
    },
    async step(command) {
      return stepAnswerOf((await ask(STEP, stepValues(command))).lines)
    },
    async annotate(notes) {
      const args = notes.flatMap(({ schedule, token, progress, log, logCut }) => [
        encodeName(schedule),
        token,
        JSON.stringify({ progress, log, logCut }),
      ])
      return { stale: (await ask(ANNOTATE, args)).lines }
    },
    async transact() {
      throw new StoreError('STORE_CANNOT_TRANSACT', `${link.name} has no transactions of yours to settle a fire in.`, {
        hint: 'Use at-least-once with run.once for each effect, or check run.token where the effect is kept.',
      })
    },
    async loadApp(name) {
      const { now, lines } = await ask(LOAD_APP, [encodeName(name)])
      return { now, app: lines[0] === undefined ? null : JSON.parse(lines[0]) }
    },
    saveApp: (app) => askFlag(SAVE_APP, [encodeName(app.name), String(app.version), JSON.stringify(app)]),
    async listSchedules(query) {
      requireOpen()
      return listSchedules(asker, query, schedulesOf)
    },
    async listFires(query) {
      requireOpen()
      return listFires(asker, query)
    },
    async listRuns(query) {
      requireOpen()
      return listRuns(asker, query)
    },
    async listEnds(query) {
      requireOpen()
      return listEnds(asker, query)
    },
    listSteps,
    listInstances: (query) => listInstances(ask, query),
    async prune(limit) {
      return { deleted: Number((await ask(PRUNE, [String(limit)])).lines[0]) }
    },
    async erase(schedule, limit) {
      const [left] = (await ask(ERASE, [encodeName(schedule), String(limit)])).lines
      if (left !== 'exists') return left === '0'
      throw new StoreError('SCHEDULE_EXISTS', `Schedule ${schedule} still exists.`, {
        hint: 'Remove it first: its records are what keeps it from running twice.',
      })
    },
    watch(listener) {
      requireOpen()
      return wakeUp.watch(listener)
    },
    async probe(asked) {
      requireOpen()
      return liveness.probe(asked, (instance) => wakeUp.isBusy(instance))
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** Name, head, state, definition. */
type ScheduleLines = readonly [name: string, head: string, state: string, definition: string]

function instantOf(text: string): number | null {
  return text === '' ? null : Number(text)
}

function stepValues(command: StepCommand): string[] {
  const { kind, fire, step } = command
  const head = [kind, encodeName(fire.schedule), fireName(fire), encodeName(step)]
  if (kind === 'begin') return [...head, command.token, command.rerun ? '1' : '0', '']
  const token = kind === 'end' ? command.token : ''
  return [...head, token, command.failed ? '1' : '0', JSON.stringify(command.result)]
}

function stepAnswerOf([kind, value]: readonly string[]): StepAnswer {
  if (kind === 'done') return { kind, result: JSON.parse(value!) }
  if (kind === 'unknown') return { kind, token: value! }
  return { kind: kind as 'applied' | 'duplicate' | 'stale' | 'not-found' }
}

function stepOf({ schedule, dueAt, nonce }: FireKey, line: string): StepRecord {
  const [name, head, result] = line.split('\t') as [string, string, string]
  const [state, token, begunAt, endedAt] = head.split(' ') as [StepRecord['state'], string, string, string]
  return {
    schedule,
    dueAt,
    nonce,
    step: decodeName(name),
    state,
    token,
    result: JSON.parse(result),
    begunAt: Number(begunAt),
    endedAt: instantOf(endedAt),
  }
}
