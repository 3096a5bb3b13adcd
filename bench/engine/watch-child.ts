// The watchdog of one instance with many schedules, whose minutes are half seconds here. From the sources: users can't set that.
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce } from '../../packages/cronce/src/app/cronce.ts'
import { surround } from '../../packages/cronce/src/app/surroundings.ts'
import { memory } from '../../packages/cronce/src/store/memory/memory.ts'
import { sqlite } from '../../packages/cronce/src/store/sqlite/sqlite.ts'
import type { DueQuery, Store, StoreSource } from '../../packages/cronce/src/store/store.ts'
import type { Look } from './watch-plan.ts'

const [file = '', schedules = '', looks = ''] = process.argv.slice(2)
const MINUTE_MS = 500
const YEAR_MS = 365 * 86_400_000
/** Calls of the watchdog alone; `due` is one if it asks for what has waited for a minute. */
const OWN = ['listSchedules', 'listEnds', 'listRecords', 'listLatest', 'load', 'loadApp', 'listInstances']

interface Call {
  readonly at: number
  readonly ms: number
  readonly rows: number
}

const calls: Call[] = []
const source = (file === '' ? memory() : sqlite(file)) as StoreSource
const app = cronce({
  store: surround(watched(source), { settings: { watchMs: MINUTE_MS } }),
  ...{ app: 'bench', deployment: 'one', signals: false, logger: false, alerts: {} },
})
app.job('noop', {}, () => {})
const at = Date.now() + YEAR_MS
const names = Array.from({ length: Number(schedules) }, (_, number) => [String(number), { job: 'noop', at }] as const)
await app.schedules.createMany(names)
await app.start()
// The first looks read what is read once.
await sleep(6 * MINUTE_MS)
calls.length = 0
await sleep(Number(looks) * MINUTE_MS)
const seen = [...calls]
await app.stop()
process.send!(looksOf(seen))

/** Calls of one look follow each other at once. */
function looksOf(all: readonly Call[]): Look[] {
  const found: { calls: number; rows: number; ms: number }[] = []
  for (const [index, call] of all.entries()) {
    const before = all[index - 1]
    if (before === undefined || call.at - before.at > MINUTE_MS / 2) found.push({ calls: 0, rows: 0, ms: 0 })
    const look = found.at(-1)!
    look.calls++
    look.rows += call.rows
    look.ms += call.ms
  }
  return found
}

function watched(inner: StoreSource): StoreSource {
  return {
    name: inner.name,
    async open(options) {
      const store = await inner.open(options)
      return new Proxy(store, {
        get(target, name: keyof Store & string) {
          const method = target[name]
          if (typeof method !== 'function') return method
          if (name === 'watch') return target.watch.bind(target)
          return async (...args: unknown[]) => {
            const begun = performance.now()
            const answer = await (method as (...given: unknown[]) => unknown).apply(target, args)
            if (isOwn(name, args)) calls.push({ at: begun, ms: performance.now() - begun, rows: rowsOf(answer) })
            return answer
          }
        },
      })
    },
  }
}

function isOwn(name: string, [query]: readonly unknown[]): boolean {
  return OWN.includes(name) || (name === 'due' && (query as DueQuery).patienceMs === 60_000)
}

function rowsOf(answer: unknown): number {
  const { items, schedules, fires, instances } = answer as Record<string, readonly unknown[] | undefined>
  return [items, schedules, fires, instances].reduce((sum, rows) => sum + (rows?.length ?? 0), 0)
}
