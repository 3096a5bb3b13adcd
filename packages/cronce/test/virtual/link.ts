import type { Store, Transaction, WatchHint } from '../../src/store/store.ts'
import { never, type Process } from './process.ts'
import type { World } from './world.ts'

export type Method = Exclude<keyof Store, 'info' | 'watch' | 'inNamespace'>

/** A call on its way to the store. A claim is an `apply` with a claimant; the rest are called as the store's methods are. */
export interface StoreCall {
  readonly name: Method | 'claim'
  readonly args: readonly unknown[]
}

/** Both directions may take time, independent of faults. */
export type Fault = FaultKind & { readonly requestMs?: number; readonly answerMs?: number }

type FaultKind =
  /** Nothing but that. */
  | { readonly kind: 'slow' }
  /** The request never arrives, and no error is reported. */
  | { readonly kind: 'request-lost' }
  /** The request is applied, and no answer arrives. */
  | { readonly kind: 'answer-lost' }
  /** It is applied, and then the connection breaks. */
  | { readonly kind: 'applied-then-throws' }
  /** The connection is refused. */
  | { readonly kind: 'throws' }
  /**
   * The request arrives a second time, `againMs` later; that answer is dropped. Transactions and closing are not
   * repeated.
   */
  | { readonly kind: 'duplicate'; readonly againMs: number }

/** The connection of one process to the store: what goes wrong on it, and what went over it. */
export interface Link {
  readonly store: <Tx>(store: Store<Tx>) => Store<Tx>
  /** What happens to the next calls of this name (`'*'`: of any), this often. */
  fail(name: StoreCall['name'] | '*', fault: Fault, times?: number): void
  /** The same for calls that this function selects. Returns a function that ends it. */
  disturb(fault: (call: StoreCall) => Fault | null): () => void
  /** Wake-ups do not get through. */
  deaf: boolean
  /** The signal that this process lives is lost, and the process is notified. */
  doubt(): void
  /** Returns which of these instances seem dead, if the store can detect it. */
  probe: ((instances: readonly string[]) => readonly string[]) | null
  /** Calls so far that reached the network, by name. */
  readonly calls: ReadonlyMap<StoreCall['name'], number>
}

export function createLink(world: World, process: Process): Link {
  const calls = new Map<StoreCall['name'], number>()
  const listeners = new Set<(hint: WatchHint) => void>()
  const disturbances = new Set<(call: StoreCall) => Fault | null>()

  const faultOf = (call: StoreCall): Fault | null => {
    for (const disturb of disturbances) {
      const fault = disturb(call)
      if (fault !== null) return fault
    }
    return null
  }
  const travel = async (ms: number | undefined): Promise<void> => {
    if (ms !== undefined && ms > 0) await world.after(ms)
  }
  const send = async <Answer>(call: StoreCall, perform: () => Promise<Answer>): Promise<Answer> => {
    if (process.state === 'crashed') return never()
    calls.set(call.name, (calls.get(call.name) ?? 0) + 1)
    const fault = faultOf(call)
    if (fault === null) return deliver(process, perform())
    if (fault.kind === 'request-lost') return never()
    await travel(fault.requestMs)
    const back = (): Promise<void> => travel(fault.answerMs)
    if (fault.kind === 'throws') return deliver(process, Promise.reject(connectionError(call)), back)
    const answer = perform()
    if (fault.kind === 'answer-lost') {
      answer.catch(() => {})
      return never()
    }
    if (fault.kind === 'applied-then-throws') {
      const broken = answer.then(() => Promise.reject(connectionError(call)))
      return deliver(process, broken, back)
    }
    const isRepeated = fault.kind === 'duplicate' && call.name !== 'transact' && call.name !== 'close'
    if (isRepeated) world.at(world.now() + fault.againMs, () => void perform().catch(() => {}))
    return deliver(process, answer, back)
  }
  const link: Link = {
    calls,
    deaf: false,
    probe: null,
    doubt() {
      for (const listener of listeners) process.deliver(() => listener('doubt'))
    },
    disturb(fault) {
      disturbances.add(fault)
      return () => void disturbances.delete(fault)
    },
    fail(name, fault, times = 1) {
      let left = times
      const end = link.disturb((call) => {
        if (name !== '*' && call.name !== name) return null
        if (--left === 0) end()
        return fault
      })
    },
    store: (inner) => wrap(inner, process, send, link, listeners),
  }
  return link
}

async function deliver<Answer>(
  process: Process,
  answer: Promise<Answer>,
  travel?: () => Promise<void>,
): Promise<Answer> {
  try {
    const value = await answer
    await travel?.()
    await process.delivered()
    return value
  } catch (error) {
    await travel?.()
    await process.delivered()
    throw error
  }
}

type Send = <Answer>(call: StoreCall, perform: () => Promise<Answer>) => Promise<Answer>

function wrap<Tx>(
  inner: Store<Tx>,
  process: Process,
  send: Send,
  link: Link,
  listeners: Set<(hint: WatchHint) => void>,
): Store<Tx> {
  const through =
    <Args extends readonly unknown[], Answer>(name: Method, method: (...args: Args) => Promise<Answer>) =>
    (...args: Args): Promise<Answer> =>
      send({ name, args }, () => method(...args))
  return {
    get info() {
      return link.probe === null ? inner.info : { ...inner.info, probes: true }
    },
    load: through('load', inner.load),
    due: through('due', inner.due),
    apply: (changes, options) =>
      send({ name: options?.claimant === undefined ? 'apply' : 'claim', args: [changes, options] }, () =>
        inner.apply(changes, options),
      ),
    beat: through('beat', inner.beat),
    mark: through('mark', inner.mark),
    step: through('step', inner.step),
    annotate: through('annotate', inner.annotate),
    transact: (transaction) =>
      send({ name: 'transact', args: [transaction] }, () => inner.transact(inProcess(process, transaction))),
    loadApp: through('loadApp', inner.loadApp),
    saveApp: through('saveApp', inner.saveApp),
    listSchedules: through('listSchedules', inner.listSchedules),
    listRecords: through('listRecords', inner.listRecords),
    listLatest: through('listLatest', inner.listLatest),
    countFires: through('countFires', inner.countFires),
    listEnds: through('listEnds', inner.listEnds),
    listActivity: through('listActivity', inner.listActivity),
    listSteps: through('listSteps', inner.listSteps),
    listInstances: through('listInstances', inner.listInstances),
    prune: through('prune', inner.prune),
    watch(listener) {
      const stop = inner.watch((hint) => void (link.deaf || process.deliver(() => listener(hint))))
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        stop()
      }
    },
    probe: through('probe', async (instances) => link.probe?.(instances) ?? []),
    close: through('close', inner.close),
  }
}

/** The work of a transaction runs in the process: while that is paused it does not go on, and once it crashed it never ends. */
function inProcess<Tx, Value>(process: Process, transaction: Transaction<Tx, Value>): Transaction<Tx, Value> {
  return {
    ...transaction,
    async work(tx) {
      await process.delivered()
      const value = await transaction.work(tx)
      await process.delivered()
      return value
    },
  }
}

function connectionError({ name }: StoreCall): Error {
  return Object.assign(new Error(`The connection broke (${name}).`), { code: 'ECONNRESET' })
}
