import type { Change } from '../../model/change.ts'
import type { FireKey, FireRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { viewEnd } from '../../model/views.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import { findTwin } from '../matches.ts'
import {
  type Applied,
  type ApplyOptions,
  type Beat,
  type BeatAnswer,
  type ChangeResult,
  ENDED_SHOWN,
  type EndPage,
  type EndQuery,
  type OpenOptions,
  type Page,
  type StepAnswer,
  type Store,
  type Transaction,
} from '../store.ts'
import { StoreError } from '../store-error.ts'
import { WakeUp } from '../wake-up.ts'
import { warnNewer } from '../warn-newer.ts'
import { type ApplyAnswer, applyValues, type Judgement, judgementsOf, mayWait } from './apply.ts'
import { Claims } from './claims.ts'
import type { Database, Statement } from './database.ts'
import { storeStatements } from './functions.ts'
import { moveEpoch } from './identity.ts'
import { type BeatRow, beatValue, type InstancesAnswer, instanceOf } from './instances.ts'
import { type Select, selectFire, selectRecords, selectSchedules } from './lists.ts'
import { Liveness } from './liveness.ts'
import { LookPositions } from './look-position.ts'
import {
  type CountAnswer,
  type EndsAnswer,
  endsOf,
  fireOf,
  hoursOf,
  type LatestAnswer,
  type PageAnswer,
  recordPage,
} from './pages.ts'
import { type PlainAnswer, planOf } from './plain.ts'
import { lineOf, type StoreMoment } from './rows.ts'
import { type DefinitionColumns, Definitions, type DueAnswer, type StatesAnswer } from './schedules.ts'
import { quoteSchema } from './schema-name.ts'
import { fireValues, notesValue, stepCall } from './steps.ts'
import { type LockAnswer, transact } from './transact.ts'
import { wakeChannel } from './wake-channel.ts'

/** A server that changes its identity faster than this is not one that can be worked with. */
const MOVES = 5
const TRIES = 10
/** So long the others take an instance for one that holds runs, without being told again. */
const BUSY_MS = 60_000
/** Of the runs that are open when it joins, the latest. */
const HOLDERS = 500

const NONE_WRITTEN: ReadonlySet<string> = new Set()

type Send = <Answer>(statement: Statement, values: readonly string[]) => Promise<Answer>

/** What a call has come to so far. */
interface Progress {
  now: number
  renewed: boolean
}

/** One opening of a namespace. */
export function openStore<Tx>(
  database: Database<Tx>,
  schemaName: string,
  firstEpoch: number,
  { namespace, warn }: Pick<OpenOptions, 'namespace' | 'warn'>,
  /** Tests compare what both ways of writing come to. */
  usesPlain = true,
): Store<Tx> {
  const schema = quoteSchema(schemaName)
  const statements = storeStatements(schema)
  const definitions = new Definitions()
  const claims = new Claims()
  const liveness = new Liveness(database, schemaName, namespace)
  const looks = new LookPositions()
  const connect = () => database.session()
  const wakeUp = new WakeUp(wakeChannel(schemaName, namespace), connect, () => looks.forget())
  const newer = warnNewer(warn, database.name)
  let epoch = firstEpoch
  let saidBusyAt = Number.NEGATIVE_INFINITY
  let closing: Promise<void> | null = null

  const requireOpen = (): void => {
    if (closing === null) return
    throw new StoreError('STORE_CLOSED', `${database.name} was closed.`, { hint: 'Open it again.' })
  }

  const ask = async <Answer>(statement: Statement, values: readonly string[]): Promise<Answer> => {
    requireOpen()
    return JSON.parse(await database.ask(statement, values)) as Answer
  }

  const move = async (): Promise<void> => {
    epoch = await moveEpoch(database as Database, schemaName, warn)
  }

  /** An answer of another server than the one the epoch is about does not count: first the epoch moves. */
  const askMoment = async <Answer>(statement: Statement, values: readonly string[]): Promise<Answer> => {
    for (let moves = 0; ; moves++) {
      const answer = await ask<Answer & Partial<StoreMoment>>(statement, values)
      epoch = Math.max(epoch, answer.epoch ?? 0)
      if (answer.moved !== true || moves === MOVES) return answer
      await move()
    }
  }

  /** An answer with schedules, and these with their definitions. What changed before its definition was read is read again. */
  const askStates = async <Answer extends StatesAnswer>(
    send: Send,
    statement: Statement,
    values: readonly string[],
  ): Promise<readonly [answer: Answer, states: ScheduleState[]]> => {
    for (let tries = 0; tries < TRIES; tries++) {
      const answer = await send<Answer>(statement, values)
      const missing = definitions.missing(answer)
      if (missing.length > 0) {
        definitions.add(await send<DefinitionColumns>(statements.definitions, [JSON.stringify(missing)]))
      }
      const states = definitions.decode(answer.states, newer)
      if (states !== null) return [answer, states]
    }
    throw new StoreError('STORE_CONFLICT', 'The definitions of schedules change all the time.', { hint: 'Try again.' })
  }

  /** What changes come to, one after the other. */
  const applyOn = async (
    send: Send,
    changes: readonly Change[],
    options: ApplyOptions<Tx>,
    progress: Progress,
  ): Promise<Judgement[]> => {
    const { claimant, app, wake = false, tx } = options
    const isBusy = claimant !== undefined && isNewlyBusy(changes)
    const finished = tx === undefined ? claims.finishing(changes) : []
    const header = {
      instance: claimant?.instance ?? null,
      lease_ms: claimant?.leaseMs ?? null,
      channel: wake || isBusy ? wakeUp.channel : null,
      payload: isBusy ? wakeUp.busyPayload(claimant.instance, wake) : tx === undefined ? wakeUp.payload : '',
      app: app?.name ?? null,
      app_version: app?.version ?? null,
      finished,
    }
    const values = [namespace, ...applyValues(header, changes, definitions)]
    const answer = await send<ApplyAnswer>(statements.apply, values)
    const found = judgementsOf(answer, changes.length)
    progress.now = answer.now
    progress.renewed ||= answer.renewed ?? false
    const written = changes.filter((_, index) => found[index]!.kind === 'applied')
    if (isBusy && written.length > 0) saidBusyAt = performance.now()
    if (tx !== undefined) {
      for (const { state } of written) if (state !== null) looks.written(state)
      return found
    }
    noteWritten(written, finished, written.length === changes.length)
    for (const [id, places] of answer.claims ?? []) {
      claims.add(
        id,
        places.map((place) => changes[place]!),
      )
    }
    return found
  }

  /** A change that waits in vain for another transaction keeps nothing else from being written. */
  const applyApart = async (
    changes: readonly Change[],
    options: ApplyOptions<Tx>,
    progress: Progress,
  ): Promise<Judgement[]> => {
    const results: Judgement[] = changes.map(() => ({ kind: 'conflict' }))
    for (const waits of [false, true]) {
      const places = [...changes.keys()].filter((place) => mayWait(changes[place]!) === waits)
      if (places.length === 0) continue
      try {
        const part = places.map((place) => changes[place]!)
        const found = await applyOn(askMovable, part, options, progress)
        for (const [index, place] of places.entries()) results[place] = found[index]!
      } catch (error) {
        if (!isConflict(error)) throw waits ? partly(error) : error
      }
    }
    return results
  }

  const applyGeneral = async (
    changes: readonly Change[],
    options: ApplyOptions<Tx>,
    progress: Progress,
  ): Promise<Judgement[]> => {
    try {
      return await applyOn(askMovable, changes, options, progress)
    } catch (error) {
      if (changes.length === 1 || !isConflict(error)) throw error
      return applyApart(changes, options, progress)
    }
  }

  /** Ids of the changes that could be written on typed columns. */
  const applyPlain = async (
    changes: readonly Change[],
    { claimant, app, wake = false }: ApplyOptions<Tx>,
    progress: Progress,
  ): Promise<ReadonlySet<string>> => {
    const plan = app === undefined ? planOf(changes, claimant?.instance ?? null, definitions) : null
    if (plan === null) return NONE_WRITTEN
    const isBusy = claimant !== undefined && isNewlyBusy(changes)
    const finished = claims.finishing(plan.changes)
    const header = {
      ...{ instance: plan.instance, claim: plan.claim, epoch: plan.epoch, lease_ms: claimant?.leaseMs ?? null },
      channel: wake || isBusy ? wakeUp.channel : null,
      payload: isBusy ? wakeUp.busyPayload(claimant.instance, wake) : wakeUp.payload,
      finished: finished.length === 0 ? null : `{${finished.join()}}`,
    }
    const values = [namespace, JSON.stringify(header), ...plan.values]
    let answer: PlainAnswer
    try {
      answer = await askMovable<PlainAnswer>(claimant === undefined ? statements.settle : statements.claim, values)
    } catch (error) {
      // Another transaction has locked one of them: the general statement waits for none.
      if (isConflict(error)) return NONE_WRITTEN
      throw error
    }
    progress.now = answer.now
    progress.renewed ||= answer.renewed ?? false
    const keys = answer.keys === null ? null : new Set(answer.keys)
    const written = answer.none ? [] : plan.changes.filter((_, index) => keys?.has(plan.keys[index]!) ?? true)
    if (isBusy && written.length > 0) saidBusyAt = performance.now()
    noteWritten(written, finished, written.length === plan.changes.length)
    if (typeof answer.id === 'number') claims.add(answer.id, written)
    return new Set(written.map(({ id }) => id))
  }

  const noteWritten = (written: readonly Change[], finished: readonly number[], isWhole: boolean): void => {
    for (const { state } of written) {
      if (state === null) continue
      looks.written(state)
      definitions.wrote(state)
    }
    claims.settled(written, finished, isWhole)
  }

  const judge = async (
    changes: readonly Change[],
    options: ApplyOptions<Tx>,
    progress: Progress,
  ): Promise<Judgement[]> => {
    const { tx } = options
    if (tx !== undefined) return applyOn(sendIn(tx), changes, options, progress)
    const written = usesPlain ? await applyPlain(changes, options, progress) : NONE_WRITTEN
    const rest = changes.filter(({ id }) => !written.has(id))
    if (rest.length === 0 && changes.length > 0) return changes.map(() => ({ kind: 'applied' }))
    try {
      const judged = (await applyGeneral(rest, options, progress)).values()
      return changes.map(({ id }) => (written.has(id) ? { kind: 'applied' } : judged.next().value!))
    } catch (error) {
      throw written.size > 0 ? partly(error) : error
    }
  }

  /** Peers watch an instance that holds runs, and hear of it when that begins: not with every claim, but often enough to go on. */
  const isNewlyBusy = (changes: readonly Change[]): boolean =>
    performance.now() - saidBusyAt > BUSY_MS / 2 &&
    changes.some(({ state }) => state?.open.some(({ run }) => run !== null) === true)

  const sendIn =
    (tx: Tx) =>
    async <Answer>(statement: Statement, values: readonly string[]): Promise<Answer> => {
      requireOpen()
      const answer = JSON.parse(await database.askIn(tx, statement, values)) as Answer & Partial<StoreMoment>
      // Not in a transaction that may be rolled back. If it fails, the next one finds it moved still.
      if (answer.moved === true) void move().catch(() => {})
      return answer
    }

  /** The record of a fire that a change must not create. `null`: it is gone by now. */
  const findFire = async (send: Send, fire: FireKey): Promise<FireRecord | null> => {
    const { values, ...statement } = selectFire(schema, namespace, fire)
    return fireOf(...(await askStates<PageAnswer>(send, statement, values)))
  }

  const resultOf = async (send: Send, change: Change, place: number): Promise<ChangeResult> => {
    const fire = await findFire(send, change.creates[place]!)
    return fire === null ? { kind: 'conflict' } : { kind: 'exists', fire }
  }

  const apply = async (changes: readonly Change[], options: ApplyOptions<Tx> = {}): Promise<Applied> => {
    const { tx } = options
    const twins = changes.map(findTwin)
    const sound = changes.filter((_, index) => twins[index] === null)
    const progress: Progress = { now: 0, renewed: false }
    const judgements = await judge(sound, options, progress)
    if (options.wake === true) wakeUp.ring()
    const send = tx === undefined ? askMovable : sendIn(tx)
    const rest = judgements.values()
    const results: ChangeResult[] = []
    for (const [index, fire] of twins.entries()) {
      const judgement = fire === null ? rest.next().value! : null
      if (judgement === null) results.push({ kind: 'exists', fire: fire! })
      else if (judgement.kind === 'exists') results.push(await resultOf(send, changes[index]!, judgement.place))
      else results.push(judgement)
    }
    return { ...progress, results }
  }

  /** Refused on a moved server, all of it: whoever asks looks again, and finds the new epoch. */
  const askMovable = async <Answer>(statement: Statement, values: readonly string[]): Promise<Answer> => {
    const answer = await ask<Answer & Partial<StoreMoment>>(statement, values)
    if (answer.moved === true) await move()
    return answer
  }

  const applyIn = async (tx: Tx, change: Change): Promise<ChangeResult['kind']> =>
    (await judge([change], { tx }, { now: 0, renewed: false }))[0]!.kind

  /** The server plans the functions anew for each connection, which the first fire should not have to wait for. */
  const warmUp = (): void => {
    const header = {
      instance: null,
      lease_ms: null,
      channel: null,
      payload: '',
      app: null,
      app_version: null,
      finished: [],
    }
    // Two at a time, so that both connections get one. What fails here fails again when it matters, and is reported then.
    for (let lane = 0; lane < 2; lane++) {
      ask(statements.apply, [namespace, ...applyValues(header, [], definitions)]).catch(() => {})
    }
  }

  const askPage = ({ values, ...statement }: Select) => askStates<PageAnswer>(askMoment, statement, values)

  const listRecords: Store['listRecords'] = async (query) =>
    recordPage(...(await askPage(selectRecords(schema, namespace, query))), query)

  const listSchedules: Store['listSchedules'] = async (query): Promise<Page<ScheduleState>> => {
    const { values, ...statement } = selectSchedules(schema, namespace, query)
    const [{ now }, states] = await askStates<StatesAnswer>(askMoment, statement, values)
    const items = states.slice(0, query.limit)
    const last = items.at(-1)
    const isCut = states.length > query.limit && last !== undefined
    return { now, items, next: isCut ? writeCursor([last.id]) : null }
  }

  const listEnds = async ({ after, limit }: EndQuery): Promise<EndPage> => {
    const [epochThen, snapshot] = after === null ? [null, null] : readCursor(after, ['number', 'string'])
    const answer = await askMoment<EndsAnswer>(statements.ends, [namespace, snapshot ?? '', String(limit + 1)])
    const isKnown = epochThen === null || epochThen === answer.epoch
    const items = isKnown ? endsOf(answer.lines.slice(0, limit)) : []
    const next = writeCursor([answer.epoch, answer.snapshot])
    return { now: answer.now, items, next, complete: isKnown && !answer.erased && answer.lines.length <= limit }
  }

  const listInstances: Store['listInstances'] = async ({ ids, app, ended = ENDED_SHOWN } = {}) => {
    const [statement, values] =
      ids === undefined
        ? [statements.listInstances, [String(ended), app ?? '']]
        : [statements.findInstances, [JSON.stringify(ids)]]
    const answer = await askMoment<InstancesAnswer>(statement, [namespace, ...values])
    return { now: answer.now, instances: answer.instances.map(instanceOf) }
  }

  /** A newcomer has not heard who began to hold runs; what others say of themselves is as old as their last beat. */
  const hearWhoIsBusy = async (): Promise<void> => {
    const { items } = await listRecords({ view: 'runs', outcome: 'open', after: null, limit: HOLDERS })
    for (const { run } of items) if (run !== null) wakeUp.markBusy(run.instance)
  }

  const beat = async (given: Beat): Promise<BeatAnswer> => {
    requireOpen()
    const { id, state } = given.instance
    if (given.join) {
      await liveness.hold(id)
      warmUp()
    }
    const isNews = given.join || given.wake === true || state === 'left'
    const value = beatValue(given, liveness.isHolding(), isNews ? wakeUp : null)
    const answer = await askMoment<BeatRow>(statements.beat, [namespace, value])
    const { alive, number, now, chores } = answer
    if (number === null || state === 'left') await liveness.release(id)
    if (isNews) wakeUp.ring()
    const fleet = answer.instances.map(instanceOf)
    for (const peer of fleet) if (peer.running > 0) wakeUp.markBusy(peer.id)
    // Only for the sake of speed: by their leases their ends are noticed all the same.
    if (given.join) await hearWhoIsBusy().catch(() => {})
    const { epoch: current, held } = answer
    return { alive, number, now, epoch: current, lost: false, chores, instances: fleet, held }
  }

  const step = async (...[command]: Parameters<Store['step']>): Promise<StepAnswer> => {
    const { statement, values } = stepCall(statements, command)
    for (let tries = 0; tries < TRIES; tries++) {
      const answer = await ask<StepAnswer | null>(statement, [namespace, ...values])
      if (answer !== null) return answer
    }
    throw new StoreError('STORE_CONFLICT', `Too many others change step ${command.step}.`, {
      hint: 'Try again.',
    })
  }

  const close = async (): Promise<void> => {
    wakeUp.close()
    liveness.close()
    await database.close()
  }

  // Only to say so: they are passed over in any case.
  void ask<string | null>(statements.newer, [namespace]).then(
    (schedule) => schedule !== null && newer(schedule),
    () => {},
  )

  return {
    info: {
      name: database.name,
      get epoch() {
        return epoch
      },
      transactions: database.transactions,
      get probes() {
        return liveness.isHolding() !== null
      },
      losesWrites: false,
      leaseClock: 'boot',
    },
    async load(ids, { tx } = {}) {
      const send = tx === undefined ? askMoment : sendIn(tx)
      const values = [namespace, JSON.stringify(ids)]
      const [answer, schedules] = await askStates<StatesAnswer>(send, statements.load, values)
      return { now: answer.now, epoch: answer.epoch, schedules }
    },
    async due(query) {
      const jobs = looks.begin(query.jobs)
      const { patienceMs, limit } = query
      const values = [namespace, JSON.stringify(jobs), String(patienceMs), String(limit), String(definitions.newest)]
      const [answer, schedules] = await askStates<DueAnswer>(askMoment, statements.due, values)
      const { now, othersAt } = answer
      const againAt = looks.end(jobs, now, new Map(answer.oldest))
      const mineAt = againAt === null || (answer.mineAt ?? againAt) < againAt ? answer.mineAt : againAt
      return { now, epoch: answer.epoch, schedules, mineAt, othersAt }
    },
    apply,
    beat,
    mark: (mark) =>
      mark.kind === 'dead'
        ? ask<boolean>(statements.bury, [namespace, mark.instance, String(mark.renewals), String(mark.hint)])
        : ask<boolean>(statements.drain, [
            ...[namespace, mark.instance, String(mark.drain)],
            ...[wakeUp.channel, wakeUp.payload],
          ]),
    step,
    async annotate(notes) {
      return { stale: await ask<string[]>(statements.annotate, [namespace, notesValue(notes)]) }
    },
    async transact<Value>(transaction: Transaction<Tx, Value>) {
      requireOpen()
      const lock = async (tx: Tx, values: readonly string[]) =>
        askStates<LockAnswer>(sendIn(tx), statements.lock, values)
      return transact({ database, namespace, look: statements.look, lock, applyIn }, transaction)
    },
    loadApp: (name) => ask(statements.loadApp, [namespace, name]),
    saveApp: (app) => ask<boolean>(statements.saveApp, [namespace, app.name, String(app.version), JSON.stringify(app)]),
    listSchedules,
    listRecords,
    async listLatest({ schedules, limit }) {
      const values = [namespace, JSON.stringify(schedules), String(limit)]
      const { now, lines } = await askMoment<LatestAnswer>(statements.listLatest, values)
      return { now, fires: lines.map((row) => viewEnd(lineOf(row))) }
    },
    async countFires({ from, to }) {
      const answer = await askMoment<CountAnswer>(statements.countFires, [namespace, String(from), String(to)])
      return { now: answer.now, hours: hoursOf(answer) }
    },
    listEnds,
    listSteps: (fire) => ask(statements.listSteps, [namespace, ...fireValues(fire)]),
    listInstances,
    async prune(limit, schedule) {
      if (schedule === undefined) return { deleted: await ask<number>(statements.prune, [namespace, String(limit)]) }
      const deleted = await ask<number | 'exists'>(statements.erase, [namespace, schedule, String(limit)])
      if (deleted !== 'exists') return { deleted }
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

/** Refused as a whole, because another transaction was in the way. */
function isConflict(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'STORE_CONFLICT' && error.notApplied
}

/** What an earlier part has written is written, whatever becomes of this one. */
function partly(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error
  const { code, message, hint } = error
  return new StoreError(code, message, { hint, cause: error, notApplied: false })
}
