import type { SyncPoint } from '../../packages/cronce/src/engine/parts.ts'
import type { Store, StoreSource } from '../../packages/cronce/src/store/store.ts'
import type { Ambush, Blow } from './order.ts'
import type { Random } from './random.ts'

/** The call that follows a point, if one does. */
export const NEXT_CALL: Partial<Record<SyncPoint, keyof Store>> = {
  'due:sent': 'due',
  'claim:sent': 'apply',
  'settle:sent': 'apply',
  'beat:sent': 'beat',
  'step:sent': 'step',
  'transaction:sent': 'transact',
  'recover:sent': 'load',
  'declare:sent': 'load',
}

/** Calls that a lossy link may lose: all that the engine lives on. */
const LOSABLE: ReadonlySet<string> = new Set<keyof Store>([
  'load',
  'due',
  'apply',
  'beat',
  'mark',
  'step',
  'annotate',
  'transact',
  'loadApp',
  'saveApp',
  'listRecords',
  'listEnds',
])

type Fate = Extract<Blow, 'request-lost' | 'answer-lost' | 'request-late'>

/** What goes wrong inside a process, at places that can't be hit from outside. */
export interface Ambusher {
  lie(ambush: Ambush | null): void
  /** The share of calls that are lost from now on. */
  rate: number
  readonly sync: (point: SyncPoint) => void
  surrounding<Tx>(source: StoreSource<Tx>): StoreSource<Tx>
}

export interface Blows {
  /** A fault is about to be injected into this process. Returns a function that marks it as over. */
  readonly note: (fault: string) => () => void
  readonly kill: () => void
  readonly stop: () => void
  readonly block: (ms: number) => void
}

export function ambusher(random: Random, blows: Blows): Ambusher {
  let waiting: Ambush | null = null
  let passes = 0
  let next: { readonly call: keyof Store; readonly fate: Fate } | null = null

  const strike = ({ point, blow, ms }: Ambush): void => {
    if (blow === 'request-lost' || blow === 'answer-lost' || blow === 'request-late') {
      const call = NEXT_CALL[point]
      if (call !== undefined) next = { call, fate: blow }
      return
    }
    const over = blows.note(`${blow} at ${point}`)
    if (blow === 'kill') blows.kill()
    if (blow === 'stop') blows.stop()
    if (blow === 'block') blows.block(ms)
    over()
  }

  const fateOf = (call: string): Fate | null => {
    if (next?.call === call) {
      const { fate } = next
      next = null
      return fate
    }
    if (ambush.rate === 0 || !LOSABLE.has(call) || !random.chance(ambush.rate)) return null
    return random.chance(0.5) ? 'request-lost' : 'answer-lost'
  }

  const send = async (call: string, perform: () => unknown): Promise<unknown> => {
    const fate = fateOf(call)
    if (fate === null) return perform()
    const over = blows.note(fate)
    if (fate === 'request-late') {
      blows.stop()
      over()
      return perform()
    }
    try {
      if (fate === 'answer-lost') await perform()
    } finally {
      over()
    }
    throw Object.assign(new Error(`The connection broke (${call}).`), { code: 'ECONNRESET' })
  }

  const ambush: Ambusher = {
    rate: 0,
    lie(wanted) {
      waiting = wanted
      passes = 0
      if (wanted === null) next = null
    },
    sync(point) {
      if (waiting?.point !== point || ++passes < waiting.nth) return
      const now = waiting
      waiting = null
      strike(now)
    },
    surrounding: (source) => ({
      name: source.name,
      open: async (options) => through(await source.open(options), send),
    }),
  }
  return ambush
}

function through<Tx>(store: Store<Tx>, send: (call: string, perform: () => unknown) => Promise<unknown>): Store<Tx> {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function' || typeof name !== 'string') return value
      if (!LOSABLE.has(name)) return value.bind(target)
      return (...args: unknown[]) => send(name, () => Reflect.apply(value, target, args))
    },
  })
}
