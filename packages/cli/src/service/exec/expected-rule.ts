import type { ScheduleView } from 'cronce'
import { CronceError, trigger as makeTrigger, type TriggerData } from 'cronce/cron'
import { EXPECTED_RULE, isOfExec, SLOT_JOB } from 'cronce/internal'

/** Whether an input is only the note of a rule, which the command does not get. */
export function isExpectedInput(input: unknown): boolean {
  return typeof input === 'object' && input !== null && Object.hasOwn(input, EXPECTED_RULE)
}

/** The rule that the calls of a schedule follow; `null`: it is neither of exec nor of node-cron, or no call has told it. */
export function expectedRule(view: Pick<ScheduleView, 'app' | 'job' | 'input'>): TriggerData | null {
  if (!(isOfExec(view) || view.job === SLOT_JOB) || !isExpectedInput(view.input)) return null
  const data = (view.input as Readonly<Record<string, unknown>>)[EXPECTED_RULE]
  try {
    return makeTrigger(data as TriggerData).toJSON()
  } catch (error) {
    // Written by a version that knows more.
    if (error instanceof CronceError || error instanceof TypeError) return null
    throw error
  }
}

/** Cron starts a call within the minute, and a call may take a moment to reach the store. */
export const CALL_GRACE_MS = 120_000

/**
 * A schedule of exec or node-cron as if its rule were its trigger: `nextAt` is when the next call is expected, and has passed if there was none.
 * Other schedules stay as they are. `latestDueAt`: the due time of the latest call.
 */
export function withExpectedRule<View extends ScheduleView>(view: View, latestDueAt: number | null): View {
  const rule = expectedRule(view)
  if (rule === null) return view
  // What was due before the rule was told, or changed, is not expected.
  const after = Math.max(view.updatedAt, latestDueAt ?? 0, ...view.open.map(({ dueAt }) => dueAt))
  return { ...view, trigger: rule, nextAt: makeTrigger(rule).next(after) }
}
