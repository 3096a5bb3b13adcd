import { at } from './at.ts'
import { cron } from './cron.ts'
import { CronError } from './cron-error.ts'
import { every } from './every.ts'
import type { Trigger, TriggerData } from './trigger.ts'

/** The trigger that stored data stands for: the inverse of `toJSON()`. */
export function trigger(data: TriggerData): Trigger {
  switch (data?.kind) {
    case 'cron': {
      const { kind: _, expression, ...options } = data
      return cron(expression, options)
    }
    case 'every':
      return every(data.everyMs, { anchor: data.anchor })
    case 'at':
      return at(data.at)
    default: {
      const expression = String((data as { kind?: unknown } | null | undefined)?.kind)
      throw new CronError('EXPRESSION_INVALID', `There is no kind of trigger ${JSON.stringify(expression)}.`, {
        expression,
        position: 0,
        length: expression.length,
        expected: 'cron, every or at',
        hint: 'Was the data written by a newer version?',
      })
    }
  }
}
