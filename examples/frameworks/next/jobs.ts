import { setTimeout as sleep } from 'node:timers/promises'
import { cronce } from 'cronce'

const { STORE = 'sqlite:./shop.db' } = process.env
/** Less than the platform waits between SIGTERM and SIGKILL: Kubernetes 30 s, Docker 10 s. */
const DRAIN_MS = 25_000

function createApp() {
  const app = cronce({ store: STORE, drain: DRAIN_MS, signals: false })
  return app.job('report', { every: '2s' }, async (run) => {
    console.log(`began ${run.fire.dueAt}, attempt ${run.attempt}`)
    await sleep(1_000, undefined, { signal: run.signal }) // your work
    console.log(`done ${run.fire.dueAt}`)
  })
}

// Next.js bundles this file for the instrumentation and for each route: all of them in a process share one app.
const shared = globalThis as { app?: ReturnType<typeof createApp> }
shared.app ??= createApp()
export const app = shared.app
