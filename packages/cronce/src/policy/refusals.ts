import type { Instant, ScheduleState } from '../model/schedule.ts'
import { MAX_OPEN } from './bounds.ts'
import type { Refusal } from './decision.ts'

export function refuseRetired(state: ScheduleState): Refusal {
  const renamedTo = state.retirements?.at(-1)?.renamedTo
  const why = renamedTo === undefined ? 'its job left the code' : `its job has been renamed to ${renamedTo}`
  return {
    refused: 'SCHEDULE_RETIRED',
    message: `The schedule ${state.id} is retired: ${why}.`,
    hint: renamedTo === undefined ? 'Deploy code that declares the job.' : `Use the schedule ${renamedTo}.`,
  }
}

export function refuseFull(state: ScheduleState): Refusal {
  return {
    refused: 'QUEUE_FULL',
    message: `The schedule ${state.id} has ${MAX_OPEN} fires that have not ended.`,
    hint: 'Wait until some have ended, or cancel some.',
  }
}

export function refuseOld(dueAt: Instant): Refusal {
  const due = new Date(dueAt).toISOString()
  return {
    refused: 'FIRE_TOO_OLD',
    message: `${due} is too long ago: what ran then may be off the record, and could be run twice.`,
    hint: 'Trigger the job with the input it needs instead.',
  }
}

export function isRefusal(answer: object): answer is Refusal {
  return 'refused' in answer
}
