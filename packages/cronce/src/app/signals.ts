const SIGNALS = ['SIGTERM', 'SIGINT'] as const

export type StopSignal = (typeof SIGNALS)[number]

/**
 * On SIGTERM or SIGINT: stop, then let the process end as it would have without cronce. A second signal does not wait. Returns
 * how to undo this.
 */
export function stopOnSignals(stop: (signal: StopSignal) => Promise<void>): () => void {
  let stopping = false
  const onSignal = (signal: StopSignal): void => {
    if (stopping) endAs(signal)
    // `stop` never rejects.
    else void stop(signal).then(() => endAs(signal))
    stopping = true
  }
  const remove = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
  const endAs = (signal: StopSignal): void => {
    remove()
    // If the application has its own listener for the signal, it decides how the process ends.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return remove
}
