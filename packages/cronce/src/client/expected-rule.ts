import type { Json } from '../model/json.ts'
import type { TriggerData } from '../trigger/trigger.ts'

/** The property of a schedule's input that holds the rule by which its fires are delivered. */
export const EXPECTED_RULE = 'cronce:expected'

/**
 * The rule by which a crontab or node-cron delivers fires, as the input of a schedule without a trigger: the caller decides when, and
 * cronce only knows when to expect the next call.
 */
export function expectedInput(rule: TriggerData | null): Json | undefined {
  return rule === null ? undefined : { [EXPECTED_RULE]: rule as unknown as Json }
}
