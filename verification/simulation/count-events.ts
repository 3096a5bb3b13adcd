import type { CronceEvent } from '../../packages/cronce/src/model/event.ts'

/** What the instances tell, by kind: the faults are only worth something if they had consequences. */
export function countEvent(event: CronceEvent, count: (what: string) => void): void {
  if (event.type === 'fire.planned') return
  if (event.type === 'run.started') {
    if (event.cause !== null) count(`run.started ${event.cause}`)
  } else if (event.type === 'run.fenced') count(`zombie refused: ${event.refused}`)
  else if (event.type === 'schedule.refused') count(`${event.type} ${event.code}`)
  else if ('reason' in event) count(`${event.type} ${event.reason}`)
  else count(event.type)
}
