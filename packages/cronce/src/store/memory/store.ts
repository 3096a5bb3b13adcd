import type { Store, Transacted, Transaction } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { applyChanges } from './apply.ts'
import type { Core } from './core.ts'
import { findDue } from './due.ts'
import { settle } from './hold.ts'
import { beat, listInstances, mark } from './instances.ts'
import { countFires, listEnds, listLatest, listRecords, listSchedules, listSteps } from './list.ts'
import { prune, pruneSchedule } from './prune.ts'
import { liveRun, type Space, setApp } from './space.ts'
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

/** One opening of a namespace. Every method does its work in one go before it first waits: that is all its atomicity. */
export function openStore(core: Core, namespace: string): Store<MemoryTransaction> {
  let isClosed = false
  core.space(namespace)
  const watches = new Set<() => void>()
  let epoch = core.data.epoch
  /** How much was written when this opening last wrote something. */
  let writesSeen = 0
  let lostIn = 0
  const space = (): Space => {
    if (isClosed) throw new StoreError('STORE_CLOSED', 'This store was closed.', { hint: 'Open it again.' })
    const own = core.space(namespace)
    if (own.epoch !== epoch) {
      if (writesSeen > own.writesBefore) lostIn = own.epoch
      epoch = own.epoch
      writesSeen = own.writesBefore
    }
    return own
  }
  const wrote = ({ data }: Space): void => {
    if (!core.losesWrites) return
    data.writes = (data.writes ?? 0) + 1
    writesSeen = data.writes
  }
  return {
    get info() {
      return {
        name: 'memory',
        epoch: core.data.epoch,
        transactions: true,
        probes: false,
        losesWrites: core.losesWrites,
        freeWakes: true,
        leaseClock: 'boot' as const,
      }
    },
    async load(ids, { tx } = {}) {
      const look = () => loadFrom(space(), ids)
      const schedules = tx === undefined ? look() : within(core, findTransaction(core, tx), look)
      return { now: core.now(), epoch: core.data.epoch, schedules }
    },
    due: async (query) => findDue(space(), core.now(), query),
    async apply(changes, { tx, claimant, app, wake = false } = {}) {
      const own = space()
      if (tx !== undefined) {
        return applyWithin(core, findTransaction(core, tx), { namespace, changes, claimant, app, wake })
      }
      const now = core.now()
      const results = applyChanges(own, now, changes, { claimant, app })
      if (results.some(({ kind }) => kind === 'applied')) wrote(own)
      if (wake && results.some(({ kind }) => kind === 'applied')) core.wake(namespace)
      return { now, renewed: claimant !== undefined && results[0]?.kind !== 'not-live', results }
    },
    async beat(given) {
      const own = space()
      const answer = beat(own, core.now(), given, own.epoch === lostIn)
      const isSettled = answer.alive && given.settled !== undefined && settle(own, given.instance.id, given.settled)
      if (given.join) wrote(own)
      if (given.join || given.wake === true || isSettled || given.instance.state === 'left') core.wake(namespace)
      return answer
    },
    async mark(given) {
      const isMarked = mark(space(), core.now(), given)
      if (isMarked && given.kind === 'drain') core.wake(namespace)
      return isMarked
    },
    async step(command) {
      const answer = step(space(), core.now(), command)
      if (answer.kind === 'applied') wrote(space())
      return answer
    },
    annotate: async (notes) => ({ stale: annotate(space(), notes) }),
    async transact(transaction) {
      const answer = await transact(core, space, transaction)
      if (answer.kind === 'committed') wrote(space())
      return answer
    },
    loadApp: async (name) => ({ now: core.now(), app: space().data.apps.get(name) ?? null }),
    async saveApp(app) {
      const isNext = (space().data.apps.get(app.name)?.version ?? 0) === app.version - 1
      if (isNext) setApp(space(), app)
      return isNext
    },
    listSchedules: async (query) => listSchedules(space(), core.now(), query),
    listRecords: async (query) => listRecords(space(), core.now(), query),
    listLatest: async (query) => ({ now: core.now(), fires: listLatest(space(), query) }),
    countFires: async (query) => ({ now: core.now(), hours: countFires(space(), query) }),
    listEnds: async (query) => listEnds(space(), core.now(), query),
    listSteps: async (fire) => listSteps(space(), fire),
    listInstances: async (query) => ({ now: core.now(), instances: listInstances(space(), core.now(), query) }),
    async prune(limit, schedule) {
      const own = space()
      return { deleted: schedule === undefined ? prune(own, core.now(), limit) : pruneSchedule(own, schedule, limit) }
    },
    watch(listener) {
      const stop = core.watch(namespace, listener)
      watches.add(stop)
      return () => {
        watches.delete(stop)
        stop()
      }
    },
    probe: async () => [],
    async close() {
      isClosed = true
      for (const stop of watches) stop()
      watches.clear()
    },
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
  // Others have moved on while it worked, so all is asked again, and from here on nobody can come in between.
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
