import { at } from './at.ts'
import { cron } from './cron.ts'
import { CronError } from './cron-error.ts'
import { pointAt, quote } from './cron-hints.ts'
import { every } from './every.ts'
import type { Timeline, Trigger, TriggerData } from './trigger.ts'

/** The trigger that stored data stands for: the inverse of `toJSON()`. */
export function trigger(data: TriggerData): Trigger {
  switch (data?.kind) {
    case 'cron': {
      const { kind: _, expression, ...options } = data
      return cron(expression, options)
    }
    case 'every': {
      const { kind: _, everyMs, ...options } = data
      if (typeof everyMs === 'number' && typeof data.anchor === 'number') return every(everyMs, options)
      break
    }
    case 'at':
      if (typeof data.at === 'number') return at(data.at)
  }
  const found: unknown = (data as { kind?: unknown } | null | undefined)?.kind
  const kind = typeof found === 'string' ? found : typeof found
  throw new CronError('EXPRESSION_INVALID', `This is not the data of a trigger of kind ${quote(kind)}.`, {
    ...pointAt(kind),
    expected: 'what toJSON() of a trigger gives: kind cron, every or at',
    hint: 'Was the data written by a newer version?',
  })
}

/** The instants that stored data stands for, also those that a calendar excludes. */
export function timelineOf(data: TriggerData): Timeline {
  const found = trigger(data)
  const isExcluded = data.kind === 'cron' && data.calendar?.only === 'excluded'
  return isExcluded && found.kind === 'cron' && found.excluded !== null ? found.excluded : found
}
