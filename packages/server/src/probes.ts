import { appOf, type Source } from './source.ts'

const STORE_MS = 2_000

/**
 * Whether work should be sent here: the store answers, and if this process runs jobs, its instance is live. All callers that ask
 * at the same time share one look, since the probe is open to all.
 */
export function readiness(source: Source, ready: () => boolean | Promise<boolean>): () => Promise<boolean> {
  let looking: Promise<boolean> | null = null
  return () => {
    looking ??= within(STORE_MS, look(source, ready)).finally(() => {
      looking = null
    })
    return looking
  }
}

async function look(source: Source, ready: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    if (!(await ready())) return false
    const instance = appOf(source)?.instance ?? null
    if (instance === null) {
      await source.store.check()
      return true
    }
    // Asked for by id: the probe is open to all, and ended instances may be a hundred thousand.
    const own = await source.instances.find(instance)
    return own?.state === 'live' && !own.drain
  } catch {
    // The reason goes to the log of the process, since the probe is open to all.
    return false
  }
}

function within(ms: number, answer: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms)
    void answer.then((value) => {
      clearTimeout(timer)
      resolve(value)
    })
  })
}
