import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Change } from '../../model/change.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import type { Applied, ApplyOptions, ChangeResult, OpenOptions, Store, StoreInfo, Transaction } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { warnNewer } from '../warn-newer.ts'
import { addActivity, listActivity } from './activity.ts'
import { applyChange } from './apply.ts'
import { loadApp, saveApp, versionOfApp } from './apps.ts'
import { translate } from './errors.ts'
import type { Host } from './host.ts'
import { beat, type Fleet, listInstances, listLive, mark, renew } from './instances.ts'
import { countFires, listEnds, listLatest, listRecords, listSchedules } from './lists.ts'
import { hash, Liveness } from './liveness.ts'
import { countWake, epochOf, wakesOf } from './meta.ts'
import { requireCompatible } from './migrations.ts'
import { type OpenedFile, requireSameFile } from './open.ts'
import { prune, pruneSchedule } from './prune.ts'
import { whileBusy } from './retry.ts'
import { findDue, findNewer, loadSchedules } from './schedules.ts'
import { annotate, doStep, listSteps } from './steps.ts'
import { type Ended, requireTransaction, transactOn, UserConnection, withinTransaction } from './transact.ts'
import { WakeUp } from './wake-up.ts'
import { rollback, Writer } from './writer.ts'

export function openStore(opened: OpenedFile, host: Host, options: OpenOptions): Store<DatabaseSync> {
  return new SqliteStore(opened, host, options)
}

/**
 * One opening of a namespace.
 * Methods are properties of the object, so that a wrapper can spread a store and replace some of them.
 */
class SqliteStore implements Store<DatabaseSync> {
  readonly info: StoreInfo
  readonly #opened: OpenedFile
  readonly #host: Host
  readonly #namespace: string
  readonly #warn: OpenOptions['warn']
  readonly #writer: Writer
  /** The connection that `transact` passes to users. */
  readonly #user: UserConnection
  readonly #liveness: Liveness
  readonly #wakeUp: WakeUp
  readonly #warnNewer: (schedule: string) => void
  /** The count of wake-ups at the last heartbeat. `null`: this opening has not sent one yet. */
  #wakesSeen: number | null = null
  #closing: Promise<void> | null = null

  constructor(opened: OpenedFile, host: Host, { namespace, warn }: OpenOptions) {
    const { driver, db, file, folder, mode, epoch } = opened
    this.#opened = opened
    this.#host = host
    this.#namespace = namespace
    this.#warn = warn
    this.#writer = new Writer(db, file, host.lockPatienceMs)
    this.#user = new UserConnection(opened)
    this.#liveness = new Liveness(driver, folder, mode, namespace)
    this.#wakeUp = new WakeUp(join(folder, `${hash(namespace)}.wake`), mode)
    this.#warnNewer = warnNewer(warn, file)
    const unreadable = findNewer(db, namespace)
    if (unreadable !== null) this.#warnNewer(unreadable)
    const flags = { transactions: true, probes: true, losesWrites: false }
    this.info = { name: `sqlite:${file}`, epoch, ...flags, leaseClock: 'mono' }
  }

  readonly load: Store<DatabaseSync>['load'] = async (ids, { tx } = {}) => {
    if (tx === undefined) {
      return this.#read((on, now, epoch) => ({ now, epoch, schedules: this.#loadOn(on, ids) }))
    }
    this.#requireOpen()
    const own = requireTransaction(tx, this.#opened)
    return withinTransaction(own, this.#opened.file, () => ({
      epoch: epochOf(own),
      now: this.#host.wall(),
      schedules: this.#loadOn(own, ids),
    }))
  }

  readonly due: Store['due'] = (query) =>
    this.#read((on, now, epoch) => {
      const { ids, mineAt, othersAt } = findDue(on, this.#namespace, query, now)
      return { now, epoch, schedules: this.#loadOn(on, ids), mineAt, othersAt }
    })

  readonly apply: Store<DatabaseSync>['apply'] = async (changes, options = {}) => {
    const { tx } = options
    if (tx !== undefined) {
      this.#requireOpen()
      const own = requireTransaction(tx, this.#opened)
      const { wakes, ...applied } = withinTransaction(own, this.#opened.file, () =>
        applyOn(this.#fleetOf(own), changes, options),
      )
      if (wakes) ringAfter(own, this.#wakeUp)
      return applied
    }
    const work = (on: DatabaseSync) => applyOn(this.#fleetOf(on), changes, options)
    const { wakes, ...applied } = await this.#write(work, { weight: changes.length })
    if (wakes) this.#wakeUp.ring()
    return applied
  }

  readonly beat: Store['beat'] = async (given) => {
    this.#requireOpen()
    const { id, state } = given.instance
    if (given.join) await hold(this.#liveness, id, this.#warn)
    const isWake = given.join || given.wake === true || state === 'left'
    const { answer, wakes } = await this.#write((on) => {
      // A newer version of cronce may have migrated the file to a format that this version would misread.
      requireCompatible(on, this.#opened.file)
      if (isWake) countWake(on, this.#namespace)
      return { answer: beat(this.#fleetOf(on), given), wakes: wakesOf(on, this.#namespace) }
    })
    // A signal is lost if its sender ended before its transaction did, or if the disk was full.
    if (this.#wakesSeen !== null && wakes !== this.#wakesSeen) this.#wakeUp.tellAll()
    this.#wakesSeen = wakes
    if (isWake) this.#wakeUp.ring()
    if (answer.number === null || state === 'left') await this.#liveness.release(id)
    return answer
  }

  readonly mark: Store['mark'] = async (given) => {
    const wakes = given.kind === 'drain'
    const isMarked = await this.#write((on) => {
      if (wakes) countWake(on, this.#namespace)
      return mark(this.#fleetOf(on), given)
    })
    if (wakes) this.#wakeUp.ring()
    else if (isMarked) await this.#liveness.remove(given.instance)
    return isMarked
  }

  readonly step: Store['step'] = (command) =>
    this.#write((on) => doStep(on, this.#namespace, command, this.#host.wall()))

  readonly annotate: Store['annotate'] = (notes) =>
    this.#write((on) => ({ stale: annotate(on, this.#namespace, notes) }), { weight: notes.length })

  readonly transact: Store<DatabaseSync>['transact'] = async <Value>(transaction: Transaction<DatabaseSync, Value>) => {
    const work = (on: DatabaseSync): Ended<Value> =>
      transactOn(on, this.#user, this.#namespace, transaction, () => this.#host.wall())
    try {
      const ended = await this.#write(work, { connection: this.#user.open })
      if (ended.kind === 'threw') throw ended.error
      return ended
    } finally {
      this.#user.close()
    }
  }

  readonly loadApp: Store['loadApp'] = (name) =>
    this.#read((on, now) => ({ now, app: loadApp(on, this.#namespace, name) }))

  readonly saveApp: Store['saveApp'] = (app, activity) =>
    this.#write((on) => saveApp(on, this.#namespace, app, activity))

  readonly listSchedules: Store['listSchedules'] = (query) =>
    this.#read((on, now) => listSchedules(on, this.#namespace, query, now))

  readonly listRecords: Store['listRecords'] = (query) =>
    this.#read((on, now) => listRecords(on, this.#namespace, query, now))

  readonly listLatest: Store['listLatest'] = (query) =>
    this.#read((on, now) => ({ now, fires: listLatest(on, this.#namespace, query) }))

  readonly countFires: Store['countFires'] = (query) =>
    this.#read((on, now) => ({ now, hours: countFires(on, this.#namespace, query) }))

  readonly listEnds: Store['listEnds'] = (query) =>
    this.#read((on, now, epoch) => listEnds(on, this.#namespace, query, { now, epoch }))

  readonly listActivity: Store['listActivity'] = (query) =>
    this.#read((on, now) => listActivity(on, this.#namespace, query, now))

  readonly listSteps: Store['listSteps'] = (fire) => this.#read((on) => listSteps(on, this.#namespace, fire))

  readonly listInstances: Store['listInstances'] = async (query) => {
    const { now, instances } = await this.#read((on, at) => ({
      now: at,
      instances: listInstances(this.#fleetOf(on), query),
    }))
    // A dead process renews no more, however long its lease still lasts.
    const present = instances.filter(({ state }) => state === 'live' || state === 'draining')
    const gone = new Set(this.#liveness.probe(present.map(({ id }) => id)))
    return { now, instances: instances.map((one) => (gone.has(one.id) ? { ...one, expired: true } : one)) }
  }

  readonly prune: Store['prune'] = async (limit, schedule) => {
    const work = (on: DatabaseSync): number =>
      schedule === undefined
        ? prune(on, this.#namespace, limit, this.#host.wall())
        : pruneSchedule(on, this.#namespace, schedule, limit)
    const deleted = await this.#write(work, { weight: limit })
    if (schedule !== undefined) return { deleted }
    const live = await this.#read((on) => listLive(this.#fleetOf(on)))
    await this.#liveness.sweep(live.map(({ id }) => id))
    return { deleted }
  }

  readonly watch: Store['watch'] = (listener) => {
    this.#requireOpen()
    return this.#wakeUp.watch(listener)
  }

  readonly probe: Store['probe'] = async (instances) => {
    this.#requireOpen()
    return this.#liveness.probe(instances)
  }

  readonly close: Store['close'] = () => {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#writer.idle()
    this.#wakeUp.close()
    this.#liveness.close()
    this.#user.close()
    this.#opened.db.close()
  }

  #requireOpen(): void {
    if (this.#closing === null) return
    throw new StoreError('STORE_CLOSED', `${this.#opened.file} was closed.`, { hint: 'Open it again.' })
  }

  async #write<Value>(
    work: (db: DatabaseSync) => Value,
    options?: { weight?: number; connection?: () => DatabaseSync },
  ): Promise<Value> {
    this.#requireOpen()
    const onSameFile: typeof work = (on) => {
      requireSameFile(this.#opened)
      return work(on)
    }
    return this.#writer.write(onSameFile, options)
  }

  /** `work` reads one snapshot of the file. */
  async #read<Value>(work: (db: DatabaseSync, now: Instant, epoch: number) => Value): Promise<Value> {
    this.#requireOpen()
    const { db, file } = this.#opened
    try {
      return await whileBusy(() => {
        this.#requireOpen()
        return reading(db, () => {
          // The first read takes the snapshot, so it comes before the clock: no row in it may be newer than `now`.
          const epoch = epochOf(db)
          return work(db, this.#host.wall(), epoch)
        })
      }, this.#host.lockPatienceMs)
    } catch (error) {
      throw translate(error, file, true)
    }
  }

  #loadOn(on: DatabaseSync, ids: readonly string[]): ScheduleState[] {
    return loadSchedules(on, this.#namespace, ids, this.#warnNewer)
  }

  #fleetOf(on: DatabaseSync): Fleet {
    return { db: on, namespace: this.#namespace, host: this.#host, now: this.#host.wall() }
  }
}

function applyOn(
  fleet: Fleet,
  changes: readonly Change[],
  { claimant, app, activity, wake = false }: ApplyOptions<DatabaseSync>,
): Applied & { readonly wakes: boolean } {
  const { db, namespace, now } = fleet
  const isLive = claimant === undefined || renew(fleet, claimant.instance, claimant.leaseMs)
  const batch = { db, namespace, now, epoch: epochOf(db), slots: new Map() }
  const isStale = app !== undefined && versionOfApp(db, namespace, app.name) !== app.version
  const results = changes.map((change): ChangeResult => {
    if (!isLive) return { kind: 'not-live' }
    return isStale ? { kind: 'conflict' } : applyChange(batch, change)
  })
  addActivity(db, namespace, activity)
  const wakes = wake && results.some(({ kind }) => kind === 'applied')
  if (wakes) countWake(db, namespace)
  return { now, renewed: claimant !== undefined && isLive, results, wakes }
}

function reading<Value>(db: DatabaseSync, work: () => Value): Value {
  db.exec('begin')
  try {
    const value = work()
    db.exec('commit')
    return value
  } catch (error) {
    rollback(db)
    throw error
  }
}

async function hold(liveness: Liveness, instance: string, warn: OpenOptions['warn']): Promise<void> {
  try {
    await liveness.hold(instance)
  } catch (error) {
    warn('STORE_NO_LOCK', `The death of this process will be noticed late, by its lease: ${(error as Error).message}`)
  }
}

/** Peers see the change only after the user's transaction has ended, so wait for that. Gives up waiting after five seconds. */
function ringAfter(tx: DatabaseSync, wakeUp: WakeUp, looks = 500): void {
  if (looks === 0 || !tx.isOpen || !tx.isTransaction) wakeUp.ring()
  else setTimeout(() => ringAfter(tx, wakeUp, looks - 1), 10).unref()
}
