import type { ClientParts } from '../client/parts.ts'
import type { Meter } from '../engine/parts.ts'
import type { Json } from '../model/json.ts'
import { StoreWatch } from '../watch/store-watch.ts'
import type { AppCore } from './app-core.ts'
import type { AppLifecycle } from './lifecycle.ts'
import type { Once } from './once.ts'

export interface AppWatch {
  /** The app has started. */
  begin(): void
  /** It is about to stop. */
  end(): void
}

interface WatchParts<Tx> {
  readonly core: AppCore<Tx>
  readonly lifecycle: AppLifecycle<Tx>
  readonly keys: Once
  readonly client: ClientParts<Tx>
}

/** Longest wait for another instance that sends the same message. */
const WAIT_MS = 30_000

/** The watchdog of an app that has one, from its start to its stop. It is loaded when it is first needed. */
export function appWatch<Tx>({ core, lifecycle, keys, client }: WatchParts<Tx>): AppWatch {
  const { resolved, around, events, emit, logger, meters } = core
  const { watch } = resolved
  if (watch === null) return { begin() {}, end() {} }
  let stopping = new AbortController()
  const begin = async (): Promise<void> => {
    const { engine } = lifecycle
    if (engine === null) return
    const { Watcher } = await import('../watch/watcher.ts')
    const { signal: stopped } = stopping
    const store = new StoreWatch(() => engine.storeNow(), core.storeWarnings)
    const meter = callMeter(store)
    meters.push(meter)
    const unlisten = STORE_EVENTS.map((type) => events.observe(type, (event) => store.observe(event)))
    const watcher = new Watcher({
      client: client as unknown as ClientParts,
      clock: around.clock,
      app: engine.settings.app,
      namespace: resolved.namespace,
      alerts: watch.alerts,
      thresholds: watch.thresholds,
      store,
      fleet: () => engine.fleet,
      now: () => engine.storeNow(),
      wakeUps: () => engine.wakeUps,
      once: (key, work) => keys.once(key, { rerun: true, wait: WAIT_MS, signal: stopped }, work) as Promise<Json>,
      emit,
      warn: (message) => logger.warn(message),
      everyMs: engine.settings.watchMs,
      stopped,
    })
    await watcher.loop()
    for (const stop of unlisten) stop()
    meters.splice(meters.indexOf(meter), 1)
  }
  return {
    begin() {
      stopping = new AbortController()
      void begin()
    },
    end: () => stopping.abort(),
  }
}

const STORE_EVENTS = ['store.failed', 'store.recovered', 'store.rolledBack'] as const

function callMeter(store: StoreWatch): Meter {
  return {
    runStarted() {},
    succeeded() {},
    storeCalled: (operation, ms) => store.called(operation, ms),
    conflicted() {},
  }
}
