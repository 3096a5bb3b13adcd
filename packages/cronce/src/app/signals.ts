const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * On SIGTERM or SIGINT: stop, then let the process end as it would have without us. A second signal does not wait.
 * Returns how to take it back.
 */
export function stopOnSignals(stop: () => Promise<void>): () => void {
  let stopping = false
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) endAs(signal)
    // `stop` never rejects.
    else void stop().then(() => endAs(signal))
    stopping = true
  }
  const remove = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
  const endAs = (signal: NodeJS.Signals): void => {
    remove()
    // Somebody else listens, and has heard it: how the process ends is up to them.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return remove
}
