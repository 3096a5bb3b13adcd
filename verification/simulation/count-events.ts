import type { CronceEvent } from '../../packages/cronce/src/model/event.ts'

/** What the instances tell, by kind: the faults are only worth something if they had consequences. */
export function countEvent(event: CronceEvent, count: (what: string) => void): void {
  switch (event.type) {
    case 'run.fenced':
      return count(`zombie refused: ${event.refused}`)
    case 'run.ended':
    case 'fire.skipped':
    case 'fire.missed':
      return count(`${event.type} ${event.reason}`)
    case 'fire.ended':
    case 'run.retried':
      return count(`${event.type} ${event.reason}`)
    case 'fire.planned':
    case 'run.started':
      return
    default:
      return count(event.type)
  }
}
