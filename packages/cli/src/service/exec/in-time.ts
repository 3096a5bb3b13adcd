import { CronceError } from 'cronce/cron'

/** The result, unless the store takes too long to answer, or the user interrupts. */
export async function inTime<Value>(ms: number, doing: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted()
  const given = Promise.withResolvers<never>()
  const timer = setTimeout(() => given.reject(silent(ms)), ms)
  const onAbort = (): void => given.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([doing, given.promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    // What comes of it later is of no interest.
    doing.catch(() => {})
  }
}

function silent(ms: number): CronceError {
  return new CronceError('STORE_SILENT', `The store gave no answer within ${ms / 1_000}s.`, {
    hint: 'Look whether it is there, and what it is busy with.',
  })
}
