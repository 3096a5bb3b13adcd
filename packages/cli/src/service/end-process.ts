/** What is still open by then is the user's own: connections that a jobs file opened and does not close. */
const LINGER_MS = 500

/**
 * A service that has stopped ends, whatever else keeps the process alive. Not at once: what was written to a pipe may not have
 * left yet.
 */
export function endProcessSoon(): void {
  setTimeout(() => process.exit(), LINGER_MS).unref()
}
