import type { Store, StoreInfo, Transacted, Transaction } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { applyChanges } from './apply.ts'
import type { Core } from './core.ts'
import { findDue } from './due.ts'
import { settle } from './hold.ts'
import { beat, listInstances, mark } from './instances.ts'
import { countFires, listActivity, listEnds, listLatest, listRecords, listSchedules, listSteps } from './list.ts'
import { prune, pruneSchedule } from './prune.ts'
import { addActivity, liveRun, type Space, setApp } from './space.ts'
import { annotate, step } from './steps.ts'
import {
  applyWithin,
  beginTransaction,
  commit,
  conflictError,
  findTransaction,
  type MemoryTransaction,
  within,
} from './transaction.ts'

export function openStore(core: Core, namespace: string): Store<MemoryTransaction> {
  return new MemoryStore(core, namespace)
}

/**
 * One opening of a namespace. A method is atomic because it does all its work before its first await. Methods are properties of
 * the object, so that a wrapper can spread a store and replace some of them.
 */
class MemoryStore implements Store<MemoryTransaction> {
  readonly info: StoreInfo
  readonly #core: Core
  readonly #namespace: string
  readonly #watches = new Set<() => void>()
  #isClosed = false
  #epoch: number
  /** The store's write counter after the last write of this opening. */
  #writesSeen = 0
  /** The epoch that began without writes which were acknowledged to this opening. 0: none. */
  #lostIn = 0

  constructor(core: Core, namespace: string) {
    core.space(namespace)
    this.#core = core
    this.#namespace = namespace
    this.#epoch = core.data.epoch
    this.info = infoOf(core)
  }

  readonly load: Store<MemoryTransaction>['load'] = async (ids, { tx } = {}) => {
    const core = this.#core
    const look = () => loadFrom(this.#space(), ids)
    const schedules = tx === undefined ? look() : within(core, findTransaction(core, tx), look)
    return { now: core.now(), epoch: core.data.epoch, schedules }
  }

  readonly due: Store['due'] = async (query) => findDue(this.#space(), this.#core.now(), query)

  readonly apply: Store<MemoryTransaction>['apply'] = async (
    changes,
    { tx, claimant, app, activity, wake = false } = {},
  ) => {
    const core = this.#core
    const namespace = this.#namespace
    const own = this.#space()
    if (tx !== undefined) {
      return applyWithin(core, findTransaction(core, tx), { namespace, changes, claimant, app, wake })
    }
    const now = core.now()
    addActivity(own, activity)
    const results = applyChanges(own, now, changes, { claimant, app })
    if (results.some(({ kind }) => kind === 'applied')) this.#countWrite(own)
    if (wake && results.some(({ kind }) => kind === 'applied')) core.wake(namespace)
    const renewed = claimant !== undefined && own.data.instances.get(claimant.instance)?.goneAt === null
    return { now, renewed, results }
  }

  readonly beat: Store['beat'] = async (given) => {
    const own = this.#space()
    const answer = beat(own, this.#core.now(), given, own.epoch === this.#lostIn)
    const isSettled = answer.alive && given.settled !== undefined && settle(own, given.instance.id, given.settled)
    if (given.join) this.#countWrite(own)
    if (given.join || given.wake === true || isSettled || given.instance.state === 'left') this.#wake()
    return answer
  }

  readonly mark: Store['mark'] = async (given) => {
    const isMarked = mark(this.#space(), this.#core.now(), given)
    if (!isMarked || given.kind !== 'drain') return isMarked
    addActivity(this.#space(), given.activity)
    this.#wake()
    return isMarked
  }

  readonly step: Store['step'] = async (command) => {
    const answer = step(this.#space(), this.#core.now(), command)
    if (answer.kind === 'applied') this.#countWrite(this.#space())
    return answer
  }

  readonly annotate: Store['annotate'] = async (notes) => ({ stale: annotate(this.#space(), notes) })

  readonly transact: Store<MemoryTransaction>['transact'] = async (transaction) => {
    const answer = await transact(this.#core, () => this.#space(), transaction)
    if (answer.kind === 'committed') this.#countWrite(this.#space())
    return answer
  }

  readonly loadApp: Store['loadApp'] = async (name) => ({
    now: this.#core.now(),
    app: this.#space().data.apps.get(name) ?? null,
  })

  readonly saveApp: Store['saveApp'] = async (app, activity) => {
    const isNext = (this.#space().data.apps.get(app.name)?.version ?? 0) === app.version - 1
    if (isNext) setApp(this.#space(), app)
    if (isNext) addActivity(this.#space(), activity)
    return isNext
  }

  readonly listSchedules: Store['listSchedules'] = async (query) =>
    listSchedules(this.#space(), this.#core.now(), query)

  readonly listRecords: Store['listRecords'] = async (query) => listRecords(this.#space(), this.#core.now(), query)

  readonly listLatest: Store['listLatest'] = async (query) => ({
    now: this.#core.now(),
    fires: listLatest(this.#space(), query),
  })

  readonly countFires: Store['countFires'] = async (query) => ({
    now: this.#core.now(),
    hours: countFires(this.#space(), query),
  })

  readonly listEnds: Store['listEnds'] = async (query) => listEnds(this.#space(), this.#core.now(), query)

  readonly listActivity: Store['listActivity'] = async (query) => listActivity(this.#space(), this.#core.now(), query)

  readonly listSteps: Store['listSteps'] = async (fire) => listSteps(this.#space(), fire)

  readonly listInstances: Store['listInstances'] = async (query) => ({
    now: this.#core.now(),
    instances: listInstances(this.#space(), this.#core.now(), query),
  })

  readonly prune: Store['prune'] = async (limit, schedule) => {
    const own = this.#space()
    return {
      deleted: schedule === undefined ? prune(own, this.#core.now(), limit) : pruneSchedule(own, schedule, limit),
    }
  }

  readonly watch: Store['watch'] = (listener) => {
    const stop = this.#core.watch(this.#namespace, listener)
    this.#watches.add(stop)
    return () => {
      this.#watches.delete(stop)
      stop()
    }
  }

  readonly probe: Store['probe'] = async () => []

  readonly close: Store['close'] = async () => {
    this.#isClosed = true
    for (const stop of this.#watches) stop()
    this.#watches.clear()
  }

  /** The data of the namespace. Throws after `close`. If the epoch has moved, notes whether writes of this opening were lost. */
  #space(): Space {
    if (this.#isClosed) throw new StoreError('STORE_CLOSED', 'This store was closed.', { hint: 'Open it again.' })
    const own = this.#core.space(this.#namespace)
    if (own.epoch !== this.#epoch) {
      if (this.#writesSeen > own.writesBefore) this.#lostIn = own.epoch
      this.#epoch = own.epoch
      this.#writesSeen = own.writesBefore
    }
    return own
  }

  #countWrite({ data }: Space): void {
    if (!this.#core.losesWrites) return
    data.writes = (data.writes ?? 0) + 1
    this.#writesSeen = data.writes
  }

  #wake(): void {
    this.#core.wake(this.#namespace)
  }
}

function infoOf(core: Core): StoreInfo {
  return {
    name: 'memory',
    get epoch() {
      return core.data.epoch
    },
    transactions: true,
    probes: false,
    losesWrites: core.losesWrites,
    freeWakes: true,
    leaseClock: 'boot',
  }
}

function loadFrom({ data }: Space, ids: readonly string[]) {
  const states = ids.length === 1 ? ids : [...new Set(ids)]
  return states.map((id) => data.schedules.get(id)).filter((state) => state !== undefined)
}

async function transact<Value>(
  core: Core,
  space: () => Space,
  { schedule, token, work, settle }: Transaction<MemoryTransaction, Value>,
): Promise<Transacted<Value>> {
  if (liveRun(space(), schedule, token) === undefined) return { kind: 'stale' }
  const open = beginTransaction(core)
  let value: Value
  try {
    value = await work(open.tx)
  } catch (error) {
    open.isOver = true
    throw error
  }
  const now = core.now()
  // Other calls may have written while `work` ran, so the run is checked again. From here on nothing awaits.
  const isCommitted = commit(core, open, () => {
    const state = space().data.schedules.get(schedule)
    if (state === undefined || liveRun(space(), schedule, token) === undefined) return false
    const change = settle(state, now, value)
    if (change === null) return false
    const [result] = applyChanges(space(), now, [change], {})
    if (result!.kind !== 'applied') throw conflictError()
    return true
  })
  return isCommitted ? { kind: 'committed', value, now } : { kind: 'stale' }
}
