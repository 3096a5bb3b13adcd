import type { Store } from 'cronce'

/** What changes a store, in the order in which the store was asked. */
interface Write {
  readonly method: Method
  readonly args: readonly unknown[]
  readonly answer: unknown
  readonly at: number
}

const METHODS = ['apply', 'beat', 'mark', 'step', 'annotate', 'saveApp'] as const
type Method = (typeof METHODS)[number]
type Changes = Parameters<Store['apply']>[0]
type Applied = Awaited<ReturnType<Store['apply']>>

/** Changes in one transaction of the other store. */
const AT_A_TIME = 100

/** Keeps what a store in memory accepts, and writes it into another store. */
export interface Mirror {
  /** The same store, except that its writes are kept. */
  watch<Tx>(store: Store<Tx>): Store<Tx>
  /** Write into `target` what was kept since the last time, each at its own time. */
  copyTo(target: Store, setClock: (at: number) => void): Promise<void>
}

export function createMirror(now: () => number): Mirror {
  const writes: Write[] = []
  return {
    watch: (store) =>
      new Proxy(store, {
        get(target, name) {
          const found = target[name as keyof typeof store] as unknown
          if (typeof found !== 'function') return found
          const call = (...args: unknown[]): unknown => found.apply(target, args)
          const method = METHODS.find((one) => one === name)
          if (method === undefined) return call
          return async (...args: unknown[]) => {
            const at = now()
            const answer: unknown = await call(...args)
            writes.push({ method, args, answer, at })
            return answer
          }
        },
      }),
    async copyTo(target, setClock) {
      let waiting: Changes = []
      const send = async (): Promise<void> => {
        if (waiting.length > 0) demandApplied(await target.apply(waiting))
        waiting = []
      }
      for (const { method, args, answer, at } of writes.splice(0)) {
        const isPlain = method === 'apply' && (args[1] as { activity?: unknown } | undefined)?.activity === undefined
        if (!isPlain) await send()
        setClock(at)
        if (isPlain) {
          const { results } = answer as Applied
          waiting = [...waiting, ...(args[0] as Changes).filter((_, index) => results[index]?.kind === 'applied')]
          if (waiting.length >= AT_A_TIME) await send()
        } else await (target[method] as (...given: readonly unknown[]) => Promise<unknown>)(...args)
      }
      await send()
    },
  }
}

/** Both stores decide alike, so that all that one accepted fits the other. */
function demandApplied({ results }: Applied): void {
  const refused = results.find(({ kind }) => kind !== 'applied')
  if (refused !== undefined) throw new Error(`The history can't be copied: a change is ${refused.kind}.`)
}
