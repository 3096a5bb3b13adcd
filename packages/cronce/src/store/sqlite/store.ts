import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Change } from '../../model/change.ts'
import type { Instant } from '../../model/schedule.ts'
import type {
  Applied,
  ApplyOptions,
  Beat,
  BeatAnswer,
  ChangeResult,
  OpenOptions,
  Store,
  Transacted,
  Transaction,
} from '../store.ts'
import { StoreError } from '../store-error.ts'
import { warnNewer } from '../warn-newer.ts'
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

/** One opening of a namespace. */
export function openStore(opened: OpenedFile, host: Host, { namespace, warn }: OpenOptions): Store<DatabaseSync> {
  const { driver, db, file, folder, mode, epoch } = opened
  const writer = new Writer(db, file, host.lockPatienceMs)
  const user = new UserConnection(opened)
  const liveness = new Liveness(driver, folder, mode, namespace)
  const wakeUp = new WakeUp(join(folder, `${hash(namespace)}.wake`), mode)
  const newer = warnNewer(warn, file)
  let wakesSeen: number | null = null
  let closing: Promise<void> | null = null

  const requireOpen = (): void => {
    if (closing === null) return
    throw new StoreError('STORE_CLOSED', `${file} was closed.`, { hint: 'Open it again.' })
  }
  const write: Writer['write'] = async (work, options) => {
    requireOpen()
    const onSameFile: typeof work = (on) => {
      requireSameFile(opened)
      return work(on)
    }
    return writer.write(onSameFile, options)
  }
  /** What is read is of one moment. */
  const read = async <Value>(work: (db: DatabaseSync, now: Instant, epoch: number) => Value): Promise<Value> => {
    requireOpen()
    try {
      return await whileBusy(() => {
        requireOpen()
        return reading(db, () => {
          // The first read takes the snapshot: what is in it must not be newer than the time that comes with it.
          const current = epochOf(db)
          return work(db, host.wall(), current)
        })
      }, host.lockPatienceMs)
    } catch (error) {
      throw translate(error, file, true)
    }
  }
  const fleetOf = (on: DatabaseSync): Fleet => ({ db: on, namespace, host, now: host.wall() })

  const applyOn = (
    on: DatabaseSync,
    changes: readonly Change[],
    { claimant, app, wake = false }: ApplyOptions<DatabaseSync>,
  ): Applied & { readonly wakes: boolean } => {
    const fleet = fleetOf(on)
    const { now } = fleet
    const isLive = claimant === undefined || renew(fleet, claimant.instance, claimant.leaseMs)
    const batch = { db: on, namespace, now, epoch: epochOf(on), slots: new Map() }
    const isStale = app !== undefined && versionOfApp(on, namespace, app.name) !== app.version
    const results = changes.map((change): ChangeResult => {
      if (!isLive) return { kind: 'not-live' }
      return isStale ? { kind: 'conflict' } : applyChange(batch, change)
    })
    const wakes = wake && results.some(({ kind }) => kind === 'applied')
    if (wakes) countWake(on, namespace)
    return { now, renewed: claimant !== undefined && isLive, results, wakes }
  }

  const apply = async (changes: readonly Change[], options: ApplyOptions<DatabaseSync> = {}): Promise<Applied> => {
    const { tx } = options
    if (tx !== undefined) {
      requireOpen()
      const own = requireTransaction(tx, opened)
      const { wakes, ...applied } = withinTransaction(own, file, () => applyOn(own, changes, options))
      if (wakes) ringAfter(own, wakeUp)
      return applied
    }
    const { wakes, ...applied } = await write((on) => applyOn(on, changes, options), { weight: changes.length })
    if (wakes) wakeUp.ring()
    return applied
  }

  /** The file may have been migrated by a version that we would misunderstand. */
  const beatOnce = async (given: Beat): Promise<BeatAnswer> => {
    requireOpen()
    const { id, state } = given.instance
    if (given.join) await hold(liveness, id, warn)
    const isWake = given.join || given.wake === true || state === 'left'
    const { answer, wakes } = await write((on) => {
      requireCompatible(on, file)
      if (isWake) countWake(on, namespace)
      return { answer: beat(fleetOf(on), given), wakes: wakesOf(on, namespace) }
    })
    // A signal may be lost: its sender was gone before its transaction was over, or there was no space left for it.
    if (wakesSeen !== null && wakes !== wakesSeen) wakeUp.tellAll()
    wakesSeen = wakes
    if (isWake) wakeUp.ring()
    if (answer.number === null || state === 'left') await liveness.release(id)
    return answer
  }

  const transact = async <Value>(transaction: Transaction<DatabaseSync, Value>): Promise<Transacted<Value>> => {
    const work = (on: DatabaseSync): Ended<Value> => transactOn(on, user, namespace, transaction, () => host.wall())
    try {
      const ended = await write(work, { connection: user.open })
      if (ended.kind === 'threw') throw ended.error
      return ended
    } finally {
      user.close()
    }
  }

  const close = async (): Promise<void> => {
    await writer.idle()
    wakeUp.close()
    liveness.close()
    user.close()
    db.close()
  }

  const unreadable = findNewer(db, namespace)
  if (unreadable !== null) newer(unreadable)

  return {
    info: { name: `sqlite:${file}`, epoch, transactions: true, probes: true, losesWrites: false, leaseClock: 'mono' },
    async load(ids, { tx } = {}) {
      if (tx === undefined) {
        return read((on, now, current) => ({
          ...{ now, epoch: current },
          schedules: loadSchedules(on, namespace, ids, newer),
        }))
      }
      requireOpen()
      const own = requireTransaction(tx, opened)
      return withinTransaction(own, file, () => ({
        epoch: epochOf(own),
        now: host.wall(),
        schedules: loadSchedules(own, namespace, ids, newer),
      }))
    },
    due: (query) =>
      read((on, now, current) => {
        const { ids, mineAt, othersAt } = findDue(on, namespace, query, now)
        return { now, epoch: current, schedules: loadSchedules(on, namespace, ids, newer), mineAt, othersAt }
      }),
    apply,
    beat: beatOnce,
    async mark(given) {
      const wakes = given.kind === 'drain'
      const isMarked = await write((on) => {
        if (wakes) countWake(on, namespace)
        return mark(fleetOf(on), given)
      })
      if (wakes) wakeUp.ring()
      else if (isMarked) await liveness.remove(given.instance)
      return isMarked
    },
    step: (command) => write((on) => doStep(on, namespace, command, host.wall())),
    annotate: (notes) => write((on) => ({ stale: annotate(on, namespace, notes) }), { weight: notes.length }),
    transact,
    loadApp: (name) => read((on, now) => ({ now, app: loadApp(on, namespace, name) })),
    saveApp: (app) => write((on) => saveApp(on, namespace, app)),
    listSchedules: (query) => read((on, now) => listSchedules(on, namespace, query, now)),
    listRecords: (query) => read((on, now) => listRecords(on, namespace, query, now)),
    listLatest: (query) => read((on, now) => ({ now, fires: listLatest(on, namespace, query) })),
    countFires: (query) => read((on, now) => ({ now, hours: countFires(on, namespace, query) })),
    listEnds: (query) => read((on, now, current) => listEnds(on, namespace, query, { now, epoch: current })),
    listSteps: (fire) => read((on) => listSteps(on, namespace, fire)),
    async listInstances(query) {
      const { now, instances } = await read((on, at) => ({ now: at, instances: listInstances(fleetOf(on), query) }))
      // A process that is gone renews no more, however long its lease still lasts.
      const present = instances.filter(({ state }) => state === 'live' || state === 'draining')
      const gone = new Set(liveness.probe(present.map(({ id }) => id)))
      return { now, instances: instances.map((one) => (gone.has(one.id) ? { ...one, expired: true } : one)) }
    },
    async prune(limit, schedule) {
      const work = (on: DatabaseSync): number =>
        schedule === undefined
          ? prune(on, namespace, limit, host.wall())
          : pruneSchedule(on, namespace, schedule, limit)
      const deleted = await write(work, { weight: limit })
      if (schedule !== undefined) return { deleted }
      const live = await read((on) => listLive(fleetOf(on)))
      await liveness.sweep(live.map(({ id }) => id))
      return { deleted }
    },
    watch(listener) {
      requireOpen()
      return wakeUp.watch(listener)
    },
    async probe(instances) {
      requireOpen()
      return liveness.probe(instances)
    },
    close() {
      closing ??= close()
      return closing
    },
  }
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

/** The others see nothing before the user's transaction is over. A hint: it is looked for during a few seconds only. */
function ringAfter(tx: DatabaseSync, wakeUp: WakeUp, looks = 500): void {
  if (looks === 0 || !tx.isOpen || !tx.isTransaction) wakeUp.ring()
  else setTimeout(() => ringAfter(tx, wakeUp, looks - 1), 10).unref()
}
