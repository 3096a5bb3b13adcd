import { CronceError } from 'cronce/cron'

/** Far longer than declaring jobs takes, with a database that is asked for them. */
const LOAD_LIMIT_MS = 30_000

/**
 * What a jobs file is waiting for, if it comes in time. The timer also keeps the process alive: Node.js ends it without a word
 * when the file awaits something that nothing will bring about.
 */
export async function inLoadTime<Value>(place: string, work: Promise<Value>, limitMs = LOAD_LIMIT_MS): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(tooSlow(place, limitMs)), limitMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

function tooSlow(place: string, limitMs: number): CronceError {
  return new CronceError('JOBS_FAILED', `${place} has not finished declaring its jobs within ${limitMs / 1_000}s.`, {
    hint: 'Await only what declares jobs: cronce starts the app itself, so leave out app.start() and what waits for its end.',
  })
}
