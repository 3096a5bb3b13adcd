import type { CronceEvent } from '../model/event.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What PM2 waits between the signal and SIGKILL if neither the ecosystem file nor its daemon says otherwise. */
const DEFAULT_KILL_MS = '1600'
/** Time that a stop needs beyond `drain`: aborted runs may react, and the store is updated. */
const BEYOND_DRAIN_MS = 5_000

/** Under PM2: a warning if PM2 kills the process before its runs may have finished; else `null`. */
export function pm2Warning({ pm_id, kill_timeout, PM2_KILL_TIMEOUT }: Environment, drainMs: number): string | null {
  if (pm_id === undefined) return null
  const killMs = Number(kill_timeout ?? PM2_KILL_TIMEOUT ?? DEFAULT_KILL_MS)
  if (!(killMs <= drainMs)) return null
  return (
    `PM2 kills this process ${killMs} ms after the stop signal, but drain lets runs finish for ${drainMs} ms. ` +
    `Set kill_timeout: ${drainMs + BEYOND_DRAIN_MS} in the ecosystem file, or a shorter drain.`
  )
}

/** `pm2 reload` keeps the environment of the first start, so the new release would have the deployment id of the old one. */
export function withPm2Hint(event: CronceEvent, { pm_id }: Environment): CronceEvent {
  if (pm_id === undefined || event.type !== 'schedule.refused' || event.code !== 'SCHEDULE_DEFINED_TWICE') return event
  return { ...event, message: `${event.message} Under PM2, reload with --update-env.` }
}
