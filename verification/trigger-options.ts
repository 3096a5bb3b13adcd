import type { Spec } from '../packages/checker/src/history.ts'
import type { ScheduleOptions } from '../packages/cronce/src/client/schedule-options.ts'

/** Converts a trigger of the checker to the form that users write. */
export function triggerOf(trigger: Spec['trigger']): ScheduleOptions {
  switch (trigger?.kind) {
    case 'cron':
      return {
        ...{ cron: trigger.expression, tz: trigger.tz, dst: trigger.dst },
        ...(trigger.calendar === undefined ? {} : { calendar: trigger.calendar }),
      }
    case 'every':
      return { every: { interval: trigger.everyMs, anchor: trigger.anchor } }
    case 'at':
      return { at: trigger.at }
    case undefined:
      return {}
  }
}
