import type { Store } from '../store/store.ts'

/** A store that is opened when it is first asked: so that declaring jobs needs no database. */
export interface LazyStore<Tx> {
  readonly store: Store<Tx>
  readonly open: () => Promise<Store<Tx>>
  readonly close: () => Promise<void>
}

export function lazyStore<Tx>(open: () => Promise<Store<Tx>>): LazyStore<Tx> {
  let opening: Promise<Store<Tx>> | null = null
  let opened: Store<Tx> | null = null
  const ready = async (): Promise<Store<Tx>> => {
    opening ??= open()
    try {
      opened = await opening
      return opened
    } catch (error) {
      // What failed once may work later: the next call tries again.
      opening = null
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
    bury: async (burial) => (await ready()).bury(burial),
    drain: async (instance, drain) => (await ready()).drain(instance, drain),
    step: async (command) => (await ready()).step(command),
    annotate: async (notes) => (await ready()).annotate(notes),
    transact: async (transaction) => (await ready()).transact(transaction),
    loadApp: async (name) => (await ready()).loadApp(name),
    saveApp: async (app) => (await ready()).saveApp(app),
    listSchedules: async (query) => (await ready()).listSchedules(query),
    listFires: async (query) => (await ready()).listFires(query),
    listRuns: async (query) => (await ready()).listRuns(query),
    listSteps: async (fire) => (await ready()).listSteps(fire),
    listInstances: async () => (await ready()).listInstances(),
    prune: async (limit) => (await ready()).prune(limit),
    erase: async (schedule, limit) => (await ready()).erase(schedule, limit),
    watch: (listener) => opened?.watch(listener) ?? (() => {}),
    probe: async (instances) => (await ready()).probe(instances),
    close: async () => closeIfOpen(),
  }
  const closeIfOpen = async (): Promise<void> => {
    const closing = opening
    opening = null
    opened = null
    await (await closing?.catch(() => null))?.close()
  }
  return { store, open: ready, close: closeIfOpen }
}
