import type { CronceEvent } from 'cronce'
import { formatDuration, formatUtc } from '../format.ts'

/** What is worth a line although nothing is wrong; the rest only with --verbose. */
export function infoOf(event: CronceEvent, isVerbose: boolean): string | null {
  switch (event.type) {
    case 'schedule.created':
      return `${event.schedule} is new.`
    case 'schedule.changed':
      return `${event.schedule} has changed.`
    case 'schedule.finished':
      return `${event.schedule} will not be due again.`
    case 'schedule.paused':
      return `${event.schedule} is paused${by(event.author)}${event.note === null ? '' : `: ${event.note}`}`
    case 'schedule.resumed':
      return `${event.schedule} goes on.`
    case 'schedule.moved':
      return `${event.schedule} is due at another time, by newer time zone data.`
    case 'deployment.activated':
      return `What the deployment ${event.deployment} of ${event.app} declares counts now.`
    case 'run.retried':
      return `${about(event)} is run again at ${formatUtc(event.readyAt)}.`
    case 'run.cancelled':
      return `${about(event)} was asked to end: ${event.reason}.`
    case 'lease.regained':
      return 'The lease was renewed after all.'
    default:
      return isVerbose ? detailOf(event) : null
  }
}

function detailOf(event: CronceEvent): string | null {
  switch (event.type) {
    case 'run.started':
      return `${about(event)} starts${event.attempt > 1 ? `, attempt ${event.attempt}` : ''}.`
    case 'run.ended':
      return `${about(event)} ${event.outcome} after ${formatDuration(Math.round(event.durationMs))}.`
    case 'fire.skipped':
      return `${about(event)} was skipped${event.count > 1 ? `, with ${event.count - 1} more` : ''}: ${event.reason}.`
    case 'instance.joined':
      return `Instance ${event.instance} has joined as ${event.app}, deployment ${event.deployment}.`
    case 'instance.left':
      return `Instance ${event.instance} has left.`
    default:
      return null
  }
}

function about({ schedule, dueAt }: { readonly schedule: string; readonly dueAt: number }): string {
  return `${schedule} (due ${formatUtc(dueAt)})`
}

function by(author: string | null): string {
  return author === null ? '' : ` by ${author}`
}
