import { type Clock, systemClock } from '../clock.ts'
import { CronceError } from '../errors.ts'

/** How a process that has not started runs what is due. */
export interface DueRunner {
  isStarted(): boolean
  runDue(): Promise<unknown>
  /** @default the machine's */
  readonly clock?: Clock | undefined
}

interface Sharing {
  running: Promise<void> | null
  next: Promise<void> | null
}

/** One for each app of the process. */
const sharings = new WeakMap<object, Sharing>()

const PAUSE_MS = 100
/** How long to wait while another call in this process starts, stops or runs what is due. */
const PATIENCE_MS = 30_000

/**
 * Runs what is due, and waits for it. Deliveries that come at the same time share one round; deliveries that come during a round
 * share the next, since that round may have looked before their fire was recorded.
 */
export function runDueTogether(app: object, runner: DueRunner): Promise<void> {
  const sharing = sharings.get(app) ?? { running: null, next: null }
  sharings.set(app, sharing)
  if (sharing.running === null) {
    sharing.running = runOnce(runner).finally(() => {
      sharing.running = null
    })
    return sharing.running
  }
  // An error of the previous round is thrown to the callers of that round only.
  const again = (): Promise<void> => {
    sharing.next = null
    return runDueTogether(app, runner)
  }
  sharing.next ??= sharing.running.then(again, again)
  return sharing.next
}

async function runOnce(runner: DueRunner): Promise<void> {
  const { clock = systemClock() } = runner
  for (let waitedMs = 0; !runner.isStarted(); waitedMs += PAUSE_MS) {
    try {
      await runner.runDue()
      return
    } catch (error) {
      // The app is starting or stopping, or the user called runDue(), which may have begun before our fire was on record.
      if (!(error instanceof CronceError) || error.code !== 'ALREADY_STARTED' || waitedMs >= PATIENCE_MS) throw error
      await clock.pause(PAUSE_MS)
    }
  }
}
