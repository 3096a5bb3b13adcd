/** The parent of this process ends without a signal to it: how often to look. */
const EVERY_MS = 500
/** A script that puts the command into the background ends within this time; then the process is meant to go on alone. */
const BACKGROUND_MS = 2_000

/** What `watchParent` needs of the process. */
export interface Child {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The parent now: another one once it has ended, except on Windows. */
  readonly ppid: number
}

/**
 * Calls `ended` when the shell between npm and this process ends. npm passes a signal on to that shell only, which ends and leaves this
 * process running without a parent. Not for processes that npm has not started: those may outlive their parent.
 */
export function watchParent(child: Child, ended: () => void): () => void {
  const { npm_command, npm_lifecycle_event } = child.env
  if (npm_command === undefined && npm_lifecycle_event === undefined) return () => {}
  const first = child.ppid
  let waitedMs = 0
  const timer = setInterval(() => {
    waitedMs += EVERY_MS
    if (child.ppid === first) return
    clearInterval(timer)
    // npx runs one command, which is never in the background of a script.
    if (npm_command === 'exec' || waitedMs > BACKGROUND_MS) ended()
  }, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
