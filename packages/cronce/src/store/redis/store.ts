import type { Change } from '../../model/change.ts'
import type { FireKey, StepRecord } from '../../model/record.ts'
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
import { APPLIED, batchesOf, CONFLICT, NOT_LIVE, pushChange, type Verdict, verdictsOf } from './apply.ts'
import { isUnchanged } from './definitions.ts'
import { beatValues, listInstances, readBeat } from './instances.ts'
import {
  decodeName,
  encodeName,
  fireName,
  memberOf,
  namespaceKey,
  neverKey,
  packToken,
  readToken,
  wakeChannel,
  whole,
} from './keys.ts'
import type { Link, Script } from './link.ts'
import { listLatest, listRecords, viewFire } from './list-records.ts'
import { countFires, listEnds, listSchedules } from './lists.ts'
import { Liveness } from './liveness.ts'
import { type Answer, Asker } from './moment.ts'
import {
  groupsOf,
  type Placed as PlacedChange,
  type PlainClaim,
  type PlainSettlement,
  plainClaim,
  plainSettlement,
} from './plain.ts'
import { Schedules } from './schedules.ts'
import {
  ANNOTATE,
  APPLY,
  BEAT,
  CLAIM,
  DUE,
  ERASE,
  LIST_STEPS,
  LOAD,
  LOAD_APP,
  MARK,
  PRUNE,
  SAVE_APP,
  SETTLE,
  STEP,
} from './scripts.ts'
import { editionOf, writeState } from './state-line.ts'

/** How long peers take an instance for one that holds runs, without being told again. */
const BUSY_MS = 60_000
/** How many steps one script reads: the server serves no other client meanwhile. */
const BITE = 500

export interface RedisOpening extends Pick<OpenOptions, 'namespace'> {
  readonly prefix: string
  /** An answer counts only when replicas have what it is based on. */
  readonly waits: boolean
  /** Write plain changes with the scripts for them. Only tests do otherwise. @default true */
  readonly plain?: boolean | undefined
}

/** One opening of a namespace. */
export async function openStore(
  link: Link,
  { namespace, prefix, waits, plain: isPlain = true }: RedisOpening,
): Promise<Store<never>> {
  const key = namespaceKey(prefix, namespace)
  const session = await link.session()
  const liveness = new Liveness(link, key)
  const wakeUp = new WakeUp(wakeChannel(key), async () => session)
  // An instance that has to say what the store may have forgotten is waited for.
  const asker = new Asker(link, key, {
    waits,
    onMove() {
      // The store may have gone back in time: a line of before may have the same version as another one of now.
      schedules.forgetLines()
      wakeUp.ring('doubt')
    },
  })
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

  const schedules = new Schedules(ask)
  const reader = { ask, schedules }

  const apply = async (changes: readonly Change[], options: ApplyOptions<never> = {}): Promise<Applied> => {
    const results: ChangeResult[] = new Array(changes.length)
    const { wake = false, claimant } = options
    let now = 0
    let renewed = false
    const batches = changes.length === 0 ? [{ changes: [], places: [] }] : batchesOf(changes)
    for (const { changes: batch, places } of batches) {
      const twins = batch.map(findTwin)
      const sound = batch.filter((_, index) => twins[index] === null)
      const answer = await afterFirst(now > 0, () => applyBatch(sound, options))
      now = answer.now
      renewed = answer.renewed
      let next = 0
      for (const [index, place] of places.entries()) {
        const fire = twins[index]!
        results[place] = fire === null ? answer.results[next++]! : { kind: 'exists', fire }
      }
    }
    if (claimant !== undefined && results.some(({ kind }) => kind === 'applied') && isNewlyBusy(changes))
      saidBusyAt = performance.now()
    if (wake) wakeUp.ring()
    return { now, renewed, results }
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
    isSecond = false,
  ): Promise<Applied> => {
    const isBusy = claimant !== undefined && isNewlyBusy(changes)
    const common = [
      claimant === undefined ? '' : encodeName(claimant.instance),
      claimant === undefined ? '' : String(claimant.leaseMs),
      wake || isBusy ? session.publish : '',
      wakeUp.channel,
      isBusy ? wakeUp.busyPayload(claimant.instance, wake) : wakeUp.payload,
      app === undefined ? '' : encodeName(app.name),
      app === undefined ? '' : String(app.version),
    ]
    const plain = await applyPlain(changes, common, claimant?.instance)
    const rest = changes.filter((_, index) => plain.results[index] === null)
    if (changes.length > 0 && rest.length === 0) return { ...plain, results: plain.results as ChangeResult[] }
    const general = await afterFirst(plain.now > 0, () => applyGeneral(rest, common, { claimant, app, wake }, isSecond))
    let next = 0
    return { ...general, results: plain.results.map((result) => result ?? general.results[next++]!) }
  }

  /** `null` for changes that are not plain, or that turned out not to fit. */
  const applyPlain = async (changes: readonly Change[], common: readonly string[], claimant: string | undefined) => {
    const results: (ChangeResult | null)[] = changes.map(() => null)
    const claims: PlacedChange<PlainClaim>[] = []
    const settlements: PlacedChange<PlainSettlement>[] = []
    const { epoch } = asker
    for (const [place, change] of changes.entries()) {
      const line = isPlain && change.epoch === epoch ? schedules.lineOf(change.id) : undefined
      const settings = line === undefined ? undefined : schedules.definitions.find(change.id, editionOf(line))
      if (line === undefined || settings === undefined || change.state === null || !isUnchanged(settings, change.state))
        continue
      const { job } = settings.definition
      const claim = plainClaim(change, line)
      if (claim !== null && claim.instance === claimant) claims.push({ plain: claim, job: encodeName(job), place })
      const settlement = claim === null ? plainSettlement(change, line) : null
      if (settlement !== null) settlements.push({ plain: settlement, job: encodeName(job), place })
    }
    let now = 0
    const send = async <Item extends PlainClaim | PlainSettlement>(
      script: Script,
      sent: readonly PlacedChange<Item>[],
      more: readonly string[],
    ): Promise<void> => {
      let notBefore = Number.NEGATIVE_INFINITY
      for (const { place } of sent) notBefore = Math.max(notBefore, changes[place]!.notBefore ?? notBefore)
      const { args, places } = groupsOf(sent)
      const time = notBefore === Number.NEGATIVE_INFINITY ? '' : whole(notBefore)
      const answer = await afterFirst(now > 0, () => ask(script, [...common, String(epoch), time, ...more, ...args]))
      now = answer.now
      const lines = new Map(sent.map(({ plain, place }) => [place, plain.line]))
      for (const [index, place] of places.entries()) {
        const letter = answer.lines[0]!.length === 1 ? answer.lines[0]! : answer.lines[0]![index]!
        const isApplied = letter === 'a'
        schedules.rememberLine(changes[place]!.id, isApplied ? lines.get(place)! : null)
        if (letter !== 'g') results[place] = isApplied ? APPLIED : letter === 'n' ? NOT_LIVE : CONFLICT
      }
    }
    if (claims.length > 0) await send(CLAIM, claims, [])
    for (const group of Map.groupBy(settlements, ({ plain }) => plain.instance).values()) {
      const times = [
        Math.min(...group.map(({ plain }) => plain.earliest)),
        Math.max(...group.map(({ plain }) => plain.latest)),
      ]
      await send(SETTLE, group, [encodeName(group[0]!.plain.instance), ...times.map(whole)])
    }
    const isNotLive = results.some((result) => result === NOT_LIVE)
    return { now, renewed: claimant !== undefined && !isNotLive, results }
  }

  const applyGeneral = async (
    changes: readonly Change[],
    common: readonly string[],
    { claimant, app, wake = false }: ApplyOptions<never>,
    isSecond: boolean,
  ): Promise<Applied> => {
    const args = [...common]
    const { definitions } = schedules
    const unknown = changes.filter(({ id, version, state }) => version > 0 && state !== null && !definitions.last(id))
    if (unknown.length > 0) await schedules.learn(unknown.map(({ id }) => id))
    const written = changes.map((change) => pushChange(args, change, definitions.last(change.id)))
    const { now, lines } = await ask(APPLY, args)
    const verdicts = verdictsOf(lines, changes)
    for (const [index, verdict] of verdicts.entries()) {
      const { id, state } = changes[index]!
      const head = 'head' in verdict ? verdict.head : undefined
      schedules.rememberLine(id, head === undefined || state === null ? null : `${head} ${writeState(state)}`)
      const settings = written[index]!
      if (settings !== null && head !== undefined) definitions.remember(id, { ...settings, edition: editionOf(head) })
    }
    const renewed = claimant !== undefined && lines[0] !== 'n'
    return {
      now,
      renewed,
      results: await afterFirst(true, () => finish(changes, verdicts, { claimant, app, wake }, isSecond)),
    }
  }

  /** What needs a second question, and no third: the fire that exists, and changes that were decided on other settings than the store has. */
  const finish = async (
    changes: readonly Change[],
    verdicts: readonly Verdict[],
    options: ApplyOptions<never>,
    isSecond: boolean,
  ): Promise<ChangeResult[]> => {
    const applyAgain = async (again: readonly Change[]): Promise<ChangeResult[]> => {
      if (again.length === 0 || isSecond) return again.map(() => CONFLICT)
      await schedules.learn(again.map(({ id }) => id))
      return [...(await applyBatch(again, options, true)).results]
    }
    const results = await applyAgain(changes.filter((_, index) => 'again' in verdicts[index]!))
    return Promise.all(
      verdicts.map(async (verdict, index): Promise<ChangeResult> => {
        if ('result' in verdict) return verdict.result
        if ('again' in verdict) return results.shift()!
        const fire = await viewFire(reader, changes[index]!.id, verdict.exists)
        // Gone since: the change may be decided anew.
        return fire === null ? { kind: 'conflict' } : { kind: 'exists', fire }
      }),
    )
  }

  /** Peers watch instances that hold runs, and hear of it when that begins: not with every claim, but often enough to go on. */
  const isNewlyBusy = (changes: readonly Change[]): boolean =>
    performance.now() - saidBusyAt > BUSY_MS / 2 &&
    changes.some(({ state }) => state?.open.some(({ run }) => run !== null))

  const beat = async (given: Beat): Promise<BeatAnswer> => {
    requireOpen()
    const { id, state } = given.instance
    if (given.join) await liveness.hold(id)
    const isNews = given.join || given.wake === true || state === 'left'
    const args = [...beatValues(given), isNews ? '1' : '0', session.publish, wakeUp.channel, wakeUp.payload]
    const { now, epoch, lines } = await ask(BEAT, args)
    const { alive, number, bases, appVersion, prunable, instances, busy, held, orphans } = readBeat(id, lines)
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

  await ask(LOAD, ['0'])
  // Scripts ignore a missing right to publish: it is reported once, here, on a channel that nobody listens to.
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
    load: (ids) => schedules.load(ids),
    async due({ jobs, patienceMs, limit }) {
      const args = [
        String(patienceMs),
        String(limit),
        ...jobs.flatMap(({ job, buckets }) => [encodeName(job), buckets]),
      ]
      const { now, epoch, lines } = await ask(DUE, args)
      const [mineAt = '', othersAt = ''] = lines
      const found = await schedules.read(lines, 2)
      return { now, epoch, schedules: found, mineAt: instantOf(mineAt), othersAt: instantOf(othersAt) }
    },
    apply,
    beat,
    async mark(mark) {
      const id = encodeName(mark.instance)
      if (mark.kind === 'dead') return askFlag(MARK, [id, String(mark.renewals), mark.hint ? '1' : '0'])
      const wakeUpArguments = [session.publish, wakeUp.channel, wakeUp.payload]
      const isMarked = await askFlag(MARK, [id, '', mark.drain ? '1' : '0', ...wakeUpArguments])
      if (isMarked) wakeUp.ring()
      return isMarked
    },
    async step(command) {
      return stepAnswerOf((await ask(STEP, stepValues(command))).lines)
    },
    async annotate(notes) {
      const args = notes.flatMap(({ schedule, token, progress, log, logCut }) => [
        memberOf(schedule),
        packToken(token),
        JSON.stringify({ progress, log, logCut }),
      ])
      return { stale: (await ask(ANNOTATE, args)).lines.map(readToken) }
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
      return listSchedules(reader, query)
    },
    async listRecords(query) {
      requireOpen()
      return listRecords(reader, query)
    },
    async listLatest(query) {
      requireOpen()
      return { now: (await ask(LOAD, ['0'])).now, fires: await listLatest(ask, query) }
    },
    countFires: (query) => countFires(ask, query),
    async listEnds(query) {
      requireOpen()
      return listEnds(ask, query)
    },
    listSteps,
    listInstances: (query) => listInstances(ask, query),
    async prune(limit, schedule) {
      const { lines } =
        schedule === undefined
          ? await ask(PRUNE, [String(limit)])
          : await ask(ERASE, [memberOf(schedule), String(limit)])
      if (lines[0] !== 'exists') return { deleted: Number(lines[0]) }
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

function instantOf(text: string): number | null {
  return text === '' ? null : Number(text)
}

function stepValues(command: StepCommand): string[] {
  const { kind, fire, step } = command
  const head = [kind, memberOf(fire.schedule), fireName(fire), encodeName(step)]
  if (kind === 'begin') return [...head, packToken(command.token), command.rerun ? '1' : '0', '']
  const token = kind === 'end' ? packToken(command.token) : ''
  return [...head, token, command.failed ? '1' : '0', JSON.stringify(command.result)]
}

function stepAnswerOf([kind, value]: readonly string[]): StepAnswer {
  if (kind === 'done') return { kind, result: JSON.parse(value!) }
  if (kind === 'unknown') return { kind, token: readToken(value!) }
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
    token: readToken(token),
    result: JSON.parse(result),
    begunAt: Number(begunAt),
    endedAt: instantOf(endedAt),
  }
}
