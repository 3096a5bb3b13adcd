import type { ScheduleState } from '../../model/schedule.ts'
import { viewEnd } from '../../model/views.ts'
import { activityPage, readCursor, writeCursor } from '../cursor.ts'
import { ENDED_SHOWN, type OpenOptions, type RunKey, type StepAnswer, type Store, type StoreInfo } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { WakeUp } from '../wake-up.ts'
import { warnNewer } from '../warn-newer.ts'
import { activityRows } from './apply.ts'
import { Asker } from './asker.ts'
import { ChangeWriter } from './change-writer.ts'
import type { Database } from './database.ts'
import { type Statements, storeStatements } from './functions.ts'
import { type BeatRow, beatValue, type InstancesAnswer, instanceOf } from './instances.ts'
import { type Select, selectActivity, selectRecords, selectSchedules } from './lists.ts'
import { Liveness } from './liveness.ts'
import { LookPositions } from './look-position.ts'
import {
  type ActivityAnswer,
  type CountAnswer,
  type EndsAnswer,
  endsOf,
  hoursOf,
  type LatestAnswer,
  type PageAnswer,
  recordPage,
} from './pages.ts'
import { lineOf } from './rows.ts'
import { Definitions, type DueAnswer, type StatesAnswer } from './schedules.ts'
import { quoteSchema } from './schema-name.ts'
import { fireValues, notesValue, stepCall } from './steps.ts'
import { type LockAnswer, transact } from './transact.ts'
import { wakeChannel } from './wake-channel.ts'

/** How often one call tries to change a step that other runs are changing. */
const MAX_STEP_TRIES = 10
/** A statement of 1,000 changes costs the server a tenth less for each than two of 500. */
const BATCH = 1_000
/** An instance that joins learns from this many open runs, the latest, which of its peers hold runs. */
const HOLDERS = 500

export function openStore<Tx>(
  database: Database<Tx>,
  schemaName: string,
  epoch: number,
  { namespace, warn }: Pick<OpenOptions, 'namespace' | 'warn'>,
  /** Tests compare the results of both ways of writing. */
  usesPlain = true,
): Store<Tx> {
  const onClose = (): Promise<void> => database.close()
  return new PostgresStore({ database, schemaName, epoch, namespace, warn, usesPlain, onClose })
}

interface PostgresOpening<Tx> extends Pick<OpenOptions, 'namespace' | 'warn'> {
  readonly database: Database<Tx>
  readonly schemaName: string
  readonly epoch: number
  /** Write plain changes with the statements on typed columns. */
  readonly usesPlain: boolean
  readonly onClose: () => Promise<void>
}

/**
 * One opening of a namespace.
 * Methods are properties of the object, so that a wrapper can spread a store and replace some of them.
 */
class PostgresStore<Tx> implements Store<Tx> {
  readonly info: StoreInfo
  readonly #opening: PostgresOpening<Tx>
  readonly #database: Database<Tx>
  /** Quoted for SQL. */
  readonly #schema: string
  readonly #namespace: string
  readonly #statements: Statements
  readonly #definitions = new Definitions()
  readonly #looks = new LookPositions()
  readonly #liveness: Liveness
  readonly #wakeUp: WakeUp
  readonly #asker: Asker<Tx>
  readonly #changes: ChangeWriter<Tx>
  #closing: Promise<void> | null = null

  constructor(opening: PostgresOpening<Tx>) {
    const { database, schemaName, epoch, namespace, warn, usesPlain } = opening
    this.#opening = opening
    const schema = quoteSchema(schemaName)
    const statements = storeStatements(schema)
    const definitions = this.#definitions
    const looks = this.#looks
    const onNewer = warnNewer(warn, database.name)
    this.#database = database
    this.#schema = schema
    this.#namespace = namespace
    this.#statements = statements
    this.#liveness = new Liveness(database, schemaName, namespace)
    const connect = () => database.session()
    const wakeUp = new WakeUp(wakeChannel(schemaName, namespace), connect, () => looks.forget())
    this.#wakeUp = wakeUp
    const asker = new Asker(database, { schemaName, statements, definitions, epoch, warn, onNewer })
    this.#asker = asker
    const shared = { asker, schema, namespace, statements, definitions, looks, wakeUp }
    this.#changes = new ChangeWriter({ ...shared, usesPlain })
    this.info = infoOf(database, asker, this.#liveness)
    // Only to warn: such a schedule is left alone in any case.
    void asker.ask<string | null>(statements.newer, [namespace]).then(
      (schedule) => schedule !== null && onNewer(schedule),
      () => {},
    )
  }

  readonly load: Store<Tx>['load'] = async (ids, { tx } = {}) => {
    const asker = this.#asker
    const send = tx === undefined ? asker.askMoment : asker.askIn(tx)
    const values = [this.#namespace, JSON.stringify(ids)]
    const [answer, schedules] = await asker.askStates<StatesAnswer>(send, this.#statements.load, values)
    return { now: answer.now, epoch: answer.epoch, schedules }
  }

  readonly due: Store['due'] = async (query) => {
    const asker = this.#asker
    const looks = this.#looks
    const jobs = looks.begin(query.jobs)
    const newest = String(this.#definitions.newest)
    const { patienceMs, aheadMs = 0, limit } = query
    const numbers = [patienceMs, Math.floor(aheadMs), limit].map(String)
    const values = [this.#namespace, JSON.stringify(jobs), ...numbers, newest]
    const [answer, schedules] = await asker.askStates<DueAnswer>(asker.askMoment, this.#statements.due, values)
    const { now, othersAt } = answer
    const wholeAt = looks.end(jobs, now, new Map(answer.oldest))
    // A caller looks again this much before `mineAt`.
    const againAt = wholeAt === null ? null : wholeAt + aheadMs
    const mineAt = againAt === null || (answer.mineAt ?? againAt) < againAt ? answer.mineAt : againAt
    return { now, epoch: answer.epoch, schedules, mineAt, othersAt }
  }

  readonly apply: Store<Tx>['apply'] = (changes, options = {}) => this.#changes.apply(changes, options)

  readonly beat: Store['beat'] = async (given) => {
    this.#asker.requireOpen()
    const { id, state } = given.instance
    if (given.join) {
      await this.#liveness.hold(id)
      this.#changes.warmUp()
    }
    const isNews = given.join || given.wake === true || state === 'left'
    const value = beatValue(given, this.#liveness.isHolding(), isNews ? this.#wakeUp : null)
    const answer = await this.#asker.askMoment<BeatRow>(this.#statements.beat, [this.#namespace, value])
    const { alive, number, now, chores } = answer
    if (number === null || state === 'left') await this.#liveness.release(id)
    if (isNews) this.#wakeUp.ring()
    const fleet = answer.instances.map(instanceOf)
    for (const peer of fleet) if (peer.running > 0) this.#wakeUp.markBusy(peer.id)
    // Only for speed: without it, a peer's death is noticed when its lease expires.
    if (given.join) await this.#hearWhoIsBusy().catch(() => {})
    const { epoch, held } = answer
    return { alive, number, now, epoch, lost: false, chores, instances: fleet, held }
  }

  readonly mark: Store['mark'] = (mark) => {
    const { bury, drain } = this.#statements
    if (mark.kind === 'dead') {
      const values = [this.#namespace, mark.instance, String(mark.renewals), String(mark.hint)]
      return this.#asker.ask<boolean>(bury, values)
    }
    const { channel, payload } = this.#wakeUp
    const activity = JSON.stringify(activityRows(mark.activity))
    return this.#asker.ask(drain, [this.#namespace, mark.instance, String(mark.drain), channel, payload, activity])
  }

  readonly step: Store['step'] = async (command) => {
    const { statement, values } = stepCall(this.#statements, command)
    for (let tries = 0; tries < MAX_STEP_TRIES; tries++) {
      const answer = await this.#asker.ask<StepAnswer | null>(statement, [this.#namespace, ...values])
      if (answer !== null) return answer
    }
    throw new StoreError('STORE_CONFLICT', `Other transactions kept changing step ${command.step}.`, {
      hint: 'Try again.',
    })
  }

  readonly annotate: Store['annotate'] = async (notes) => {
    return { stale: await this.#asker.ask<RunKey[]>(this.#statements.annotate, [this.#namespace, notesValue(notes)]) }
  }

  readonly transact: Store<Tx>['transact'] = async (transaction) => {
    const asker = this.#asker
    const { look, lock: lockStatement } = this.#statements
    asker.requireOpen()
    const lock = async (tx: Tx, values: readonly string[]) =>
      asker.askStates<LockAnswer>(asker.askIn(tx), lockStatement, values)
    const applyIn: ChangeWriter<Tx>['applyIn'] = (tx, change) => this.#changes.applyIn(tx, change)
    const committed: ChangeWriter<Tx>['committed'] = (change) => this.#changes.committed(change)
    const tools = { database: this.#database, namespace: this.#namespace, look, lock, applyIn, committed }
    return transact(tools, transaction)
  }

  readonly loadApp: Store['loadApp'] = (name) => this.#asker.ask(this.#statements.loadApp, [this.#namespace, name])

  readonly saveApp: Store['saveApp'] = (app, activity) => {
    const lines = JSON.stringify(activityRows(activity))
    const values = [this.#namespace, app.name, String(app.version), JSON.stringify(app), lines]
    return this.#asker.ask<boolean>(this.#statements.saveApp, values)
  }

  readonly listSchedules: Store['listSchedules'] = async (query) => {
    const [{ now }, states] = await this.#askPage<StatesAnswer>(selectSchedules(this.#schema, this.#namespace, query))
    const items = states.slice(0, query.limit)
    const last = items.at(-1)
    const isCut = states.length > query.limit && last !== undefined
    return { now, items, next: isCut ? writeCursor([last.id]) : null }
  }

  readonly listRecords: Store['listRecords'] = async (query) =>
    recordPage(...(await this.#askPage<PageAnswer>(selectRecords(this.#schema, this.#namespace, query))), query)

  readonly listLatest: Store['listLatest'] = async ({ schedules, limit }) => {
    const values = [this.#namespace, JSON.stringify(schedules), String(limit)]
    const { now, lines } = await this.#asker.askMoment<LatestAnswer>(this.#statements.listLatest, values)
    return { now, fires: lines.map((row) => viewEnd(lineOf(row))) }
  }

  readonly countFires: Store['countFires'] = async ({ from, to }) => {
    const values = [this.#namespace, String(from), String(to)]
    const answer = await this.#asker.askMoment<CountAnswer>(this.#statements.countFires, values)
    return { now: answer.now, hours: hoursOf(answer) }
  }

  readonly listEnds: Store['listEnds'] = async ({ after, limit }) => {
    const [epochThen, snapshot] = after === null ? [null, null] : readCursor(after, ['number', 'string'])
    const values = [this.#namespace, snapshot ?? '', String(limit + 1)]
    const answer = await this.#asker.askMoment<EndsAnswer>(this.#statements.ends, values)
    const isKnown = epochThen === null || epochThen === answer.epoch
    const items = isKnown ? endsOf(answer.lines.slice(0, limit)) : []
    const next = writeCursor([answer.epoch, answer.snapshot])
    return { now: answer.now, items, next, complete: isKnown && !answer.erased && answer.lines.length <= limit }
  }

  readonly listActivity: Store['listActivity'] = async (query) => {
    const { values, ...statement } = selectActivity(this.#schema, this.#namespace, query)
    const { now, lines } = await this.#asker.askMoment<ActivityAnswer>(statement, values)
    return activityPage(now, lines, query)
  }

  readonly listSteps: Store['listSteps'] = (fire) =>
    this.#asker.ask(this.#statements.listSteps, [this.#namespace, ...fireValues(fire)])

  readonly listInstances: Store['listInstances'] = async ({ ids, app, ended = ENDED_SHOWN } = {}) => {
    const [statement, values] =
      ids === undefined
        ? [this.#statements.listInstances, [String(ended), app ?? '']]
        : [this.#statements.findInstances, [JSON.stringify(ids)]]
    const answer = await this.#asker.askMoment<InstancesAnswer>(statement, [this.#namespace, ...values])
    return { now: answer.now, instances: answer.instances.map(instanceOf) }
  }

  readonly prune: Store['prune'] = async (limit, schedule) => {
    const namespace = this.#namespace
    const { prune, erase } = this.#statements
    if (schedule === undefined) return { deleted: await this.#asker.ask<number>(prune, [namespace, String(limit)]) }
    const deleted = await this.#asker.ask<number | 'exists'>(erase, [namespace, schedule, String(limit)])
    if (deleted !== 'exists') return { deleted }
    throw new StoreError('SCHEDULE_EXISTS', `Schedule ${schedule} still exists.`, {
      hint: 'Remove it first: its records are what keeps it from running twice.',
    })
  }

  readonly watch: Store['watch'] = (listener) => {
    this.#asker.requireOpen()
    return this.#wakeUp.watch(listener)
  }

  readonly probe: Store['probe'] = async (asked) => {
    this.#asker.requireOpen()
    return this.#liveness.probe(asked, (instance) => this.#wakeUp.isBusy(instance))
  }

  readonly inNamespace = (namespace: string): Store<Tx> => {
    const { epoch } = this.#asker
    return new PostgresStore({ ...this.#opening, epoch, namespace, onClose: async () => {} })
  }

  readonly close: Store['close'] = () => {
    this.#closing ??= this.#close()
    this.#asker.close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#wakeUp.close()
    this.#liveness.close()
    await this.#opening.onClose()
  }

  #askPage<Answer extends StatesAnswer>({
    values,
    ...statement
  }: Select): Promise<readonly [answer: Answer, states: ScheduleState[]]> {
    return this.#asker.askStates<Answer>(this.#asker.askMoment, statement, values)
  }

  /**
   * An instance that joins missed when its peers reported that they hold runs, and their records are as old as their last
   * heartbeat.
   */
  async #hearWhoIsBusy(): Promise<void> {
    const { items } = await this.listRecords({ view: 'runs', outcome: 'open', after: null, limit: HOLDERS })
    for (const { run } of items) if (run !== null) this.#wakeUp.markBusy(run.instance)
  }
}

function infoOf<Tx>(database: Database<Tx>, asker: Asker<Tx>, liveness: Liveness): StoreInfo {
  return {
    name: database.name,
    get epoch() {
      return asker.epoch
    },
    transactions: database.transactions,
    get probes() {
      return liveness.isHolding() !== null
    },
    losesWrites: false,
    batch: BATCH,
    leaseClock: 'boot',
  }
}
