import { refuse } from './answer.ts'
import type { Route } from './routes/route.ts'

/**
 * What a read answers, or an error once it has taken too long. The store may still be at work then, so the caller must count the
 * request as under way until `work` has ended.
 */
export async function readInTime<Value>(
  { method, type }: Pick<Route, 'method' | 'type'>,
  ms: number,
  work: Promise<Value>,
): Promise<Value> {
  // A change goes on after its client has got an error, and a stream begins at once.
  if (method !== 'GET' || type === 'text/event-stream') return work
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(tooLate(ms)), ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
    // Whatever becomes of it later has no reader any more.
    work.catch(() => {})
  }
}

function tooLate(ms: number): Error {
  const hint = 'Ask for less: a shorter time, one schedule, a smaller limit. If that is slow too, look at the store.'
  return refuse('STORE_TIMEOUT', `The store did not answer within ${ms / 1_000} s.`, hint)
}
