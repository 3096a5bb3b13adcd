import type { Change } from '../../model/change.ts'
import type { FireRecord, RunNotes, RunRecord } from '../../model/record.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import { findTwin } from '../matches.ts'
import {
  type Applied,
  type ApplyOptions,
  type Beat,
  type BeatAnswer,
  type ChangeResult,
  ENDED_SHOWN,
  type End,
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
import { type ApplyAnswer, applyValues, batchesOf, functionFor, resultsOf } from './apply.ts'
import { appStatements } from './apps.ts'
import type { Database, Statement } from './database.ts'
import { storeFunctions } from './functions.ts'
import { moveEpoch } from './identity.ts'
import { type BeatRow, beatValue, heldOf, type InstancesAnswer, instanceOf, instanceStatements } from './instances.ts'
import { type EndRow, type Select, selectEnds, selectFires, selectRuns, selectSchedules } from './lists.ts'
import { Liveness } from './liveness.ts'
import { Looks } from './looks.ts'
import { eraseStatement } from './prune.ts'
import type { StoreMoment } from './rows.ts'
import { type DueAnswer, dueValues, type LoadAnswer, newerStatement, schedulesOf } from './schedules.ts'
import { quoteSchema } from './schema-name.ts'
import { slotStatement } from './slots.ts'
import { fireValues, notesValue, stepCall, stepStatements } from './steps.ts'
import { lookStatement, transact } from './transact.ts'
import { wakeChannel } from './wake-channel.ts'

/** A server that changes its identity faster than this is not one that can be worked with. */
const MOVES = 5
const TRIES = 10
/** So long the others take an instance for one that holds runs, without being told again. */
const BUSY_MS = 60_000
/** Of the runs that are open when it joins, the latest. */
const HOLDERS = 500

type Send = <Answer>(statement: Statement, values: readonly string[]) => Promise<Answer>

const UNTOLD: RunNotes = { progress: null, log: [], logCut: false }

interface EndsAnswer extends StoreMoment {
  readonly snapshot: string
  readonly erased: boolean
  readonly items: readonly EndRow[]
}

function endOf(row: EndRow): End {
  if (row.kind === 'fire') return row
  return { kind: 'run', run: { ...row.run, ...(row.notes ?? UNTOLD) } }
}

/** One opening of a namespace. */
export function openStore<Tx>(
  database: Database<Tx>,
  schemaName: string,
  firstEpoch: number,
  { namespace, warn }: Pick<OpenOptions, 'namespace' | 'warn'>,
): Store<Tx> {
  const schema = quoteSchema(schemaName)
  const functions = storeFunctions(schema)
  const instances = instanceStatements(schema)
  const steps = stepStatements(schema)
  const erasing = eraseStatement(schema)
  const apps = appStatements(schema)
  const look = lookStatement(schema)
  const ensureSlots = slotStatement(schema)
  const liveness = new Liveness(database, schemaName, namespace)
  const looks = new Looks()
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
  const askMoment = async <Answer extends StoreMoment>(
    statement: Statement,
    values: readonly string[],
  ): Promise<Answer> => {
    for (let moves = 0; ; moves++) {
      const answer = await ask<Answer>(statement, values)
      epoch = Math.max(epoch, answer.epoch)
      if (!answer.moved || moves === MOVES) return answer
      await move()
    }
  }

  const applyOn = async (
    send: Send,
    changes: readonly Change[],
    { claimant, app, wake = false, tx }: ApplyOptions<Tx>,
  ): Promise<Applied> => {
    const results: ChangeResult[] = new Array(changes.length)
    let now = 0
    let told = false
    const batches = changes.length === 0 ? [{ changes, places: [] }] : batchesOf(changes)
    for (const batch of batches) {
      const isBusy = claimant !== undefined && isNewlyBusy(batch.changes)
      const header = {
        instance: claimant?.instance ?? null,
        lease_ms: claimant?.leaseMs ?? null,
        channel: (wake && !told) || isBusy ? wakeUp.channel : null,
        payload: isBusy ? wakeUp.busyPayload(claimant.instance, wake) : tx === undefined ? wakeUp.payload : '',
        app: app?.name ?? null,
        app_version: app?.version ?? null,
      }
      const values = [namespace, ...applyValues(header, batch.changes)]
      const isFirst = now === 0
      const answer = await sendBatch(send, functions[functionFor(batch.changes)], values, { isFirst, tx })
      now = answer?.now ?? now
      const found = resultsOf(answer, batch.changes.length)
      for (const [index, place] of batch.places.entries()) results[place] = found[index]!
      const written = batch.changes.filter((_, index) => found[index]!.kind === 'applied')
      for (const { state } of written) if (state !== null) looks.heed(state)
      told ||= written.length > 0
      if (isBusy && told) saidBusyAt = performance.now()
    }
    return { now, results }
  }

  /** What an earlier batch has written is written, whatever becomes of this one. `null`: nothing of it could be, for now. */
  const sendBatch = async (
    send: Send,
    statement: Statement,
    values: readonly string[],
    { isFirst, tx }: { readonly isFirst: boolean; readonly tx: Tx | undefined },
  ): Promise<ApplyAnswer | null> => {
    try {
      for (let tries = 0; ; tries++) {
        const answer = await send<ApplyAnswer>(statement, values)
        const { unmade = [] } = answer
        // Runs begin in no transaction of the user's, where a new row would keep all others waiting.
        if (unmade.length === 0 || tx !== undefined || tries === TRIES) return answer
        // Slots are counted in rows that are locked when they change, so they must be there.
        await ask(ensureSlots, [namespace, JSON.stringify(unmade)])
      }
    } catch (error) {
      if (isFirst || tx !== undefined || !(error instanceof StoreError)) throw error
      if (error.code === 'STORE_CONFLICT' && error.notApplied) return null
      const { code, message, hint } = error
      throw new StoreError(code, message, { hint, cause: error, notApplied: false })
    }
  }

  /** Neighbours watch who holds runs, and hear of it when that begins: not with every claim, but often enough to go on. */
  const isNewlyBusy = (changes: readonly Change[]): boolean =>
    performance.now() - saidBusyAt > BUSY_MS / 2 &&
    changes.some(({ runs }) => runs.some(({ ending }) => ending === null))

  const sendIn =
    (tx: Tx) =>
    async <Answer>(statement: Statement, values: readonly string[]): Promise<Answer> => {
      requireOpen()
      const answer = JSON.parse(await database.askIn(tx, statement, values)) as Answer & Partial<StoreMoment>
      // Not in a transaction that may be rolled back. If it fails, the next one finds it moved still.
      if (answer.moved === true) void move().catch(() => {})
      return answer
    }

  const apply = async (changes: readonly Change[], options: ApplyOptions<Tx> = {}): Promise<Applied> => {
    const { tx } = options
    const send = tx === undefined ? askMovable : sendIn(tx)
    const twins = changes.map(findTwin)
    const sound = changes.filter((_, index) => twins[index] === null)
    const { now, results } = await applyOn(send, sound, options)
    if (options.wake === true) wakeUp.ring()
    if (sound.length === changes.length) return { now, results }
    const rest = [...results]
    return { now, results: twins.map((fire) => (fire === null ? rest.shift()! : { kind: 'exists', fire })) }
  }

  /** Refused on a moved server, all of it: whoever asks looks again, and finds the new epoch. */
  const askMovable = async <Answer>(statement: Statement, values: readonly string[]): Promise<Answer> => {
    const answer = await ask<Answer & Partial<StoreMoment>>(statement, values)
    if (answer.moved === true) await move()
    return answer
  }

  const applyIn = async (tx: Tx, change: Change): Promise<ChangeResult> =>
    (await applyOn(sendIn(tx), [change], {})).results[0]!

  /** The server plans the functions anew for each connection, which the first fire should not have to wait for. */
  const warmUp = (): void => {
    const nothing = applyValues(
      { instance: null, lease_ms: null, channel: null, payload: '', app: null, app_version: null },
      [],
    )
    // Two at a time, so that both connections get one. What fails here fails when it matters, and is told then.
    for (let lane = 0; lane < 2; lane++) ask(functions.apply, [namespace, ...nothing]).catch(() => {})
  }

  const listRuns: Store['listRuns'] = async (query) =>
    listPage(
      selectRuns(schema, namespace, query),
      query.limit,
      (rows: readonly { readonly run: RunRecord; readonly notes: RunNotes | null }[]) =>
        rows.map(({ run, notes }) => ({ ...run, ...(notes ?? UNTOLD) })),
      ({ startedAt, schedule, token }) => [startedAt, schedule, token],
    )

  const listEnds = async ({ after, limit }: EndQuery): Promise<EndPage> => {
    const [epochThen, snapshot] = after === null ? [null, null] : readCursor(after, ['number', 'string'])
    const { values, ...statement } = selectEnds(schema, namespace, snapshot, limit)
    const answer = await askMoment<EndsAnswer>(statement, values)
    const isKnown = epochThen === null || epochThen === answer.epoch
    const items = isKnown ? answer.items.slice(0, limit).map(endOf) : []
    const next = writeCursor([answer.epoch, answer.snapshot])
    return { now: answer.now, items, next, complete: isKnown && !answer.erased && answer.items.length <= limit }
  }

  const listInstances: Store['listInstances'] = async ({ ids, app, ended = ENDED_SHOWN } = {}) => {
    const [statement, values] =
      ids !== undefined
        ? [instances.find, [JSON.stringify(ids)]]
        : app !== undefined
          ? [instances.listApp, [String(ended), app]]
          : [instances.list, [String(ended)]]
    const answer = await askMoment<InstancesAnswer>(statement, [namespace, ...values])
    return { now: answer.now, instances: answer.instances.map(instanceOf) }
  }

  /** A newcomer has not heard who began to hold runs; what others say of themselves is as old as their last beat. */
  const hearWhoIsBusy = async (): Promise<void> => {
    const { items } = await listRuns({ outcome: 'open', after: null, limit: HOLDERS })
    for (const { instance } of items) wakeUp.markBusy(instance)
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
    const answer = await askMoment<BeatRow>(functions.beat, [namespace, value])
    const { alive, number, now, chores } = answer
    if (number === null || state === 'left') await liveness.release(id)
    if (isNews) wakeUp.ring()
    const fleet = answer.instances.map(instanceOf)
    for (const peer of fleet) if (peer.running > 0) wakeUp.markBusy(peer.id)
    // Only for the sake of speed: by their leases their ends are noticed all the same.
    if (given.join) await hearWhoIsBusy().catch(() => {})
    return {
      alive,
      number,
      now,
      epoch: answer.epoch,
      lost: false,
      chores,
      instances: fleet,
      held: answer.held.map(heldOf),
    }
  }

  const step = async (...[command]: Parameters<Store['step']>): Promise<StepAnswer> => {
    const { statement, values } = stepCall(steps, command)
    for (let tries = 0; tries < TRIES; tries++) {
      const answer = await ask<StepAnswer | null>(statement, [namespace, ...values])
      if (answer !== null) return answer
    }
    throw new StoreError('STORE_CONFLICT', `Too many others change step ${command.step}.`, {
      hint: 'Try again.',
    })
  }

  const listPage = async <Row, Item>(
    { values, ...statement }: Select,
    limit: number,
    itemsOf: (rows: readonly Row[]) => Item[],
    placeOf: (item: Item) => readonly (string | number)[],
  ): Promise<Page<Item>> => {
    const answer = await askMoment<StoreMoment & { readonly items: readonly Row[] }>(statement, values)
    const items = itemsOf(answer.items.slice(0, limit))
    const last = items.at(-1)
    const isCut = answer.items.length > limit && last !== undefined
    return { now: answer.now, items, next: isCut ? writeCursor(placeOf(last)) : null }
  }

  const close = async (): Promise<void> => {
    wakeUp.close()
    liveness.close()
    await database.close()
  }

  // Only to say so: they are passed over in any case.
  void ask<string | null>(newerStatement(schema), [namespace]).then(
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
      const values = [namespace, JSON.stringify(ids)]
      const answer =
        tx === undefined
          ? await askMoment<LoadAnswer>(functions.load, values)
          : await sendIn(tx)<LoadAnswer>(functions.load, values)
      return { now: answer.now, epoch: answer.epoch, schedules: schedulesOf(answer.schedules, newer) }
    },
    async due(query) {
      const jobs = looks.begin(query.jobs)
      const answer = await askMoment<DueAnswer>(functions.due, dueValues(namespace, jobs, query))
      const { now, othersAt } = answer
      const againAt = looks.end(jobs, now, answer.oldest)
      const mineAt = againAt === null || (answer.mineAt ?? againAt) < againAt ? answer.mineAt : againAt
      return { now, epoch: answer.epoch, schedules: schedulesOf(answer.schedules, newer), mineAt, othersAt }
    },
    apply,
    beat,
    bury: ({ instance, renewals, hint }) =>
      ask<boolean>(instances.bury, [namespace, instance, String(renewals), String(hint)]),
    drain: (instance, wanted) =>
      ask<boolean>(instances.drain, [namespace, instance, String(wanted), wakeUp.channel, wakeUp.payload]),
    step,
    async annotate(notes) {
      return { stale: await ask<string[]>(steps.annotate, [namespace, notesValue(notes)]) }
    },
    async transact<Value>(transaction: Transaction<Tx, Value>) {
      requireOpen()
      return transact({ database, namespace, look, lock: functions.lock, applyIn }, transaction)
    },
    loadApp: (name) => ask(apps.load, [namespace, name]),
    saveApp: (app) => ask<boolean>(apps.save, [namespace, app.name, String(app.version), JSON.stringify(app)]),
    listSchedules: async (query) =>
      listPage(
        selectSchedules(schema, namespace, query),
        query.limit,
        (rows: LoadAnswer['schedules']) => schedulesOf(rows, newer),
        ({ id }) => [id],
      ),
    listFires: async (query) =>
      listPage(
        selectFires(schema, namespace, query),
        query.limit,
        (rows: readonly FireRecord[]) => [...rows],
        ({ dueAt, schedule, nonce }) => [dueAt, schedule, nonce],
      ),
    listRuns,
    listEnds,
    listSteps: (fire) => ask(steps.list, [namespace, ...fireValues(fire)]),
    listInstances,
    async prune(limit) {
      return { deleted: await ask<number>(functions.prune, [namespace, String(limit)]) }
    },
    async erase(schedule, limit) {
      const left = await ask<number | 'exists'>(erasing, [namespace, schedule, String(limit)])
      if (left !== 'exists') return left === 0
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
