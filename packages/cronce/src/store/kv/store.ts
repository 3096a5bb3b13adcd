import type { Store, StoreInfo } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { WakeUp } from '../wake-up.ts'
import { activityPuts, listActivity } from './activity.ts'
import { ChangeWriter } from './change-writer.ts'
import type { Context } from './context.ts'
import { countFires } from './counts.ts'
import { type Guard, type Put, SHARPEN_MS } from './driver.ts'
import { findDue } from './due.ts'
import { Instances } from './instances.ts'
import { Leases } from './leases.ts'
import { listRecords } from './list-records.ts'
import { listEnds, listLatest, listSchedules } from './lists.ts'
import { prune, pruneSchedule } from './prune.ts'
import { Schedules } from './schedules.ts'
import { annotate, listSteps, step } from './steps.ts'

/**
 * One opening of a namespace.
 * Methods are properties of the object, so that a wrapper can spread a store and replace some of them.
 */
export class KvStore implements Store<never> {
  readonly info: StoreInfo
  readonly #context: Context
  readonly #schedules: Schedules
  readonly #leases: Leases
  readonly #instances: Instances
  readonly #wakeUp: WakeUp
  readonly #onClose: () => Promise<void>
  #closing: Promise<void> | null = null

  constructor(context: Context, onClose: () => Promise<void>) {
    const { driver, keys, identity, time } = context
    this.#context = context
    this.#onClose = onClose
    this.#schedules = new Schedules(context)
    this.#leases = new Leases(driver, keys, time)
    this.#instances = new Instances(context, this.#leases, this.#wakePut)
    this.#wakeUp = new WakeUp(keys.wake, async () => ({
      listen: async (key, onMessage) => driver.watch(key, onMessage, () => this.#wakeUp.ring()),
      // The loss of a watch puts no instance in doubt: its lease shows that it lives.
      onChange: () => () => {},
    }))
    identity.onMove(() => {
      this.#schedules.forget()
      this.#wakeUp.ring()
    })
    this.info = {
      name: driver.name,
      get epoch() {
        return identity.epoch
      },
      transactions: false,
      probes: false,
      losesWrites: false,
      leaseClock: 'boot',
    }
  }

  readonly #wakePut = () => ({ key: this.#context.keys.wake, value: this.#wakeUp.payload })

  readonly load: Store['load'] = async (ids) => {
    this.#requireOpen()
    const { identity, time, driver } = this.#context
    const schedules = ids.length === 0 ? [] : await this.#schedules.load(ids)
    // The caller wants to know the time.
    if (ids.length === 0) await Promise.all([driver.sharpen(SHARPEN_MS), driver.read([])])
    return { now: time.now(), epoch: identity.epoch, schedules }
  }

  readonly due: Store['due'] = async (query) => {
    this.#requireOpen()
    return findDue(this.#context, this.#schedules, query)
  }

  readonly apply: Store<never>['apply'] = async (changes, options = {}) => {
    this.#requireOpen()
    if (options.activity !== undefined) await this.#write(activityPuts(this.#context.keys, options.activity), [])
    const parts = {
      context: this.#context,
      schedules: this.#schedules,
      leases: this.#leases,
      wakePut: this.#wakePut,
    }
    const applied = await new ChangeWriter(parts, changes, options).apply()
    if (options.wake === true && applied.results.some(({ kind }) => kind === 'applied')) this.#wakeUp.ring()
    return applied
  }

  readonly beat: Store['beat'] = async (given) => {
    this.#requireOpen()
    const answer = await this.#instances.beat(given)
    const isNews = given.join || given.wake === true || given.instance.state === 'left'
    if (answer.alive && isNews) this.#wakeUp.ring()
    return answer
  }

  readonly mark: Store['mark'] = async (mark) => {
    this.#requireOpen()
    const isMarked = await this.#instances.mark(mark)
    if (isMarked && mark.kind === 'drain') this.#wakeUp.ring()
    return isMarked
  }

  readonly step: Store['step'] = async (command) => {
    this.#requireOpen()
    return step(this.#context, this.#schedules, command)
  }

  readonly annotate: Store['annotate'] = async (notes) => {
    this.#requireOpen()
    return { stale: await annotate(this.#context, this.#schedules, notes) }
  }

  readonly transact: Store['transact'] = async () => {
    const message = `${this.info.name} has no transactions of yours to settle a fire in.`
    throw new StoreError('STORE_CANNOT_TRANSACT', message, {
      hint: 'Use at-least-once with run.once for each effect, or check run.token where the effect is kept.',
    })
  }

  readonly loadApp: Store['loadApp'] = async (name) => {
    this.#requireOpen()
    const { driver, keys, time } = this.#context
    const entry = (await driver.read([{ get: keys.app(name) }])).found[0]!.entries[0]
    return { now: time.now(), app: entry === undefined ? null : JSON.parse(entry.value) }
  }

  readonly saveApp: Store['saveApp'] = async (app, activity) => {
    this.#requireOpen()
    const { keys } = this.#context
    const key = keys.app(app.name)
    // Saved once per version: the key has the version of the record.
    const unchanged: Guard = { key, is: 'version', version: app.version - 1 }
    return this.#write([{ key, value: JSON.stringify(app) }, ...activityPuts(keys, activity)], [unchanged])
  }

  /** False: one of the guards does not hold. */
  async #write(puts: readonly Put[], others: readonly Guard[]): Promise<boolean> {
    const { driver, keys, identity } = this.#context
    for (;;) {
      const before = identity.guard
      const guards = [before, ...others]
      const { isHeld, found } = await driver.commit({ guards, puts, groups: [], reads: [{ get: keys.meta }] })
      identity.refresh(found[0]!.entries[0])
      if (isHeld || JSON.stringify(before) === JSON.stringify(identity.guard)) return isHeld
    }
  }

  readonly listSchedules: Store['listSchedules'] = async (query) => {
    this.#requireOpen()
    return listSchedules(this.#context, this.#schedules, query)
  }

  readonly listRecords: Store['listRecords'] = async (query) => {
    this.#requireOpen()
    return listRecords(this.#context, this.#schedules, query)
  }

  readonly listLatest: Store['listLatest'] = async (query) => {
    this.#requireOpen()
    const fires = await listLatest(this.#context, query)
    return { now: this.#context.time.now(), fires }
  }

  readonly countFires: Store['countFires'] = async (query) => {
    this.#requireOpen()
    const hours = await countFires(this.#context, query)
    return { now: this.#context.time.now(), hours }
  }

  readonly listEnds: Store['listEnds'] = async (query) => {
    this.#requireOpen()
    return listEnds(this.#context, query)
  }

  readonly listActivity: Store['listActivity'] = async (query) => {
    this.#requireOpen()
    return listActivity(this.#context, query)
  }

  readonly listSteps: Store['listSteps'] = async (fire) => {
    this.#requireOpen()
    return listSteps(this.#context, fire)
  }

  readonly listInstances: Store['listInstances'] = async (query) => {
    this.#requireOpen()
    const instances = await this.#instances.list(query)
    return { now: this.#context.time.now(), instances }
  }

  readonly prune: Store['prune'] = async (limit, schedule) => {
    this.#requireOpen()
    const deleted =
      schedule === undefined
        ? await prune(this.#context, this.#instances, limit)
        : await pruneSchedule(this.#context, schedule, limit)
    return { deleted }
  }

  readonly watch: Store['watch'] = (listener) => {
    this.#requireOpen()
    return this.#wakeUp.watch(listener)
  }

  /** The server says nothing of closed connections. */
  readonly probe: Store['probe'] = async () => []

  readonly close: Store['close'] = () => {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** After an adoption. */
  buryAll(): Promise<void> {
    return this.#instances.buryAll()
  }

  async #close(): Promise<void> {
    this.#wakeUp.close()
    await this.#onClose()
  }

  #requireOpen(): void {
    if (this.#closing === null) return
    throw new StoreError('STORE_CLOSED', `${this.info.name} was closed.`, { hint: 'Open it again.' })
  }
}
