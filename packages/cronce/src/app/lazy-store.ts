import type { Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'

/** A store that is opened at the first call, so that declaring jobs needs no database. */
export interface LazyStore<Tx> {
  readonly store: Store<Tx>
  /** Also reopens it after it was closed. */
  readonly open: () => Promise<Store<Tx>>
  /** From then on `store` refuses every call until `open`: a call that reopened it would leave a connection that is never closed. */
  readonly close: () => Promise<void>
}

/** The error of calls while the store is closed. */
export interface ClosedWords {
  readonly message: string
  readonly hint: string
}

export function lazyStore<Tx>(open: () => Promise<Store<Tx>>, { message, hint }: ClosedWords): LazyStore<Tx> {
  let opening: Promise<Store<Tx>> | null = null
  let opened: Store<Tx> | null = null
  let isClosed = false
  const ready = async (): Promise<Store<Tx>> => {
    if (isClosed) throw new StoreError('STORE_CLOSED', message, { hint })
    opening ??= open()
    const mine = opening
    try {
      const found = await mine
      if (opening === mine) opened = found
      return found
    } catch (error) {
      // A failed opening may succeed later: the next call tries again.
      if (opening === mine) opening = null
      throw error
    }
  }
  const store: Store<Tx> = {
    get info() {
      if (opened === null) throw new Error('The store has not been opened yet.')
      return opened.info
    },
    load: async (ids, options) => (await ready()).load(ids, options),
    due: async (query) => (await ready()).due(query),
    apply: async (changes, options) => (await ready()).apply(changes, options),
    beat: async (beat) => (await ready()).beat(beat),
    mark: async (mark) => (await ready()).mark(mark),
    step: async (command) => (await ready()).step(command),
    annotate: async (notes) => (await ready()).annotate(notes),
    transact: async (transaction) => (await ready()).transact(transaction),
    loadApp: async (name) => (await ready()).loadApp(name),
    saveApp: async (app, activity) => (await ready()).saveApp(app, activity),
    listSchedules: async (query) => (await ready()).listSchedules(query),
    listRecords: async (query) => (await ready()).listRecords(query),
    listLatest: async (query) => (await ready()).listLatest(query),
    countFires: async (query) => (await ready()).countFires(query),
    listEnds: async (query) => (await ready()).listEnds(query),
    listActivity: async (query) => (await ready()).listActivity(query),
    listSteps: async (fire) => (await ready()).listSteps(fire),
    listInstances: async (query) => (await ready()).listInstances(query),
    prune: async (limit, schedule) => (await ready()).prune(limit, schedule),
    watch: (listener) => opened?.watch(listener) ?? (() => {}),
    probe: async (instances) => (await ready()).probe(instances),
    close: async () => closeIfOpen(),
  }
  const closeIfOpen = async (): Promise<void> => {
    const closing = opening
    isClosed = true
    opening = null
    opened = null
    await (await closing?.catch(() => null))?.close()
  }
  const reopen = (): Promise<Store<Tx>> => {
    isClosed = false
    return ready()
  }
  return { store, open: reopen, close: closeIfOpen }
}
