import type { CronceEvent } from '../../packages/cronce/src/model/event.ts'

/** Events that the instances emit, by kind. Faults without consequences would test nothing. */
export function countEvent(event: CronceEvent, count: (what: string) => void): void {
  if (event.type === 'fire.planned') return
  if (event.type === 'run.started') {
    if (event.cause !== null) count(`run.started ${event.cause}`)
  } else if (event.type === 'run.fenced') count(`zombie refused: ${event.refused}`)
  else if (event.type === 'schedule.refused') count(`${event.type} ${event.code}`)
  else if ('reason' in event) count(`${event.type} ${event.reason}`)
  else count(event.type)
}
