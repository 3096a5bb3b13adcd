const SIGNALS = ['SIGTERM', 'SIGINT'] as const

export type StopSignal = (typeof SIGNALS)[number]

/** Of one Ctrl-C a process gets two signals: one from the terminal, and one that npm or `timeout` passes on. */
const SAME_MS = 500

/**
 * On SIGTERM or SIGINT: stop, then let the process end as it would have without cronce. A second signal does not wait. Returns
 * how to undo this.
 */
export function stopOnSignals(stop: (signal: StopSignal) => Promise<void>): () => void {
  let isStopping = false
  let isCopyPast = false
  const onSignal = (signal: StopSignal): void => {
    if (isStopping) {
      if (isCopyPast) endAs(signal)
      return
    }
    isStopping = true
    // After a blocked event loop, the timer comes first, then signals that have arrived meanwhile, then the immediate.
    setTimeout(() => setImmediate(() => (isCopyPast = true)), SAME_MS).unref()
    // `stop` never rejects.
    void stop(signal).then(() => endAs(signal))
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
