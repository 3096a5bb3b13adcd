/**
 * The result of the promise, or what `late` answers if it takes longer; a later result is ignored. `late` may throw; it is
 * asked at that very moment, so whatever it changes is seen by what comes too late.
 */
export async function within<Value, Late>(
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
  ms: number,
  doing: Promise<Value>,
  late: () => Late,
): Promise<Value | Late> {
  const waited = new AbortController()
  const passed = sleep(Math.max(0, ms), waited.signal).then(() =>
    waited.signal.aborted ? new Promise<never>(() => {}) : late(),
  )
  try {
    return await Promise.race([doing, passed])
  } finally {
    waited.abort()
  }
}
