import { useState } from 'preact/hooks'
import { ApiError, get, part, replace } from '../core/api.ts'
import { zoneOf } from '../core/format.ts'
import { authored } from '../core/session.ts'
import type { ActionProps, ScheduleView } from '../core/types.ts'
import { ActionDialog } from './dialog.tsx'
import { tell } from './feedback.tsx'

const OVERLAPS = ['skip', 'queue', 'queue-all', 'allow', 'replace'] as const

interface Fields {
  readonly rule: string
  readonly tz: string
  readonly overlap: string
  readonly retry: string
  readonly input: string
}

function fieldsOf(schedule: ScheduleView): Fields {
  const { trigger, policy, input } = schedule
  return {
    rule: trigger?.kind === 'cron' ? trigger.expression : trigger?.kind === 'every' ? `${trigger.everyMs}ms` : '',
    tz: zoneOf(schedule),
    overlap: policy.overlap.kind,
    retry: String(policy.retry.attempts),
    input: input === null ? '' : JSON.stringify(input, null, 2),
  }
}

/** Changes what the form shows, and keeps everything else of the definition. For schedules that no code declares. */
export function EditDialog({ schedule, onClose, done }: ActionProps) {
  const before = fieldsOf(schedule)
  const [fields, setFields] = useState(before)
  const set = (name: keyof Fields) => (event: { currentTarget: { value: string } }) =>
    setFields({ ...fields, [name]: event.currentTarget.value })
  const act = async (note: string): Promise<void> => {
    const { definitionOf } = await import('../core/words-of-cli.ts')
    await demandUnchanged(schedule)
    const definition = { ...definitionOf(schedule), ...changesOf(before, fields, schedule) }
    await replace(`schedules/${part(schedule.name)}`, definition, authored(note))
    tell(`${schedule.name} is changed.`)
    done()
  }
  const isCron = schedule.trigger?.kind === 'cron'
  return (
    <ActionDialog title={`Edit ${schedule.name}`} verb="Save" act={act} onClose={onClose}>
      <p>Fires that are open stay as they are. Its pause and its history stay, too.</p>
      {schedule.trigger === null ? null : (
        <label>
          {isCron ? 'Cron expression' : 'Interval, such as 15m'}
          <input name="rule" required value={fields.rule} onInput={set('rule')} />
        </label>
      )}
      {isCron ? (
        <label>
          Time zone
          <input name="tz" required value={fields.tz} onInput={set('tz')} />
        </label>
      ) : null}
      <label>
        While an earlier fire is active
        <select name="overlap" value={fields.overlap} onChange={set('overlap')}>
          {OVERLAPS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <label>
        Further attempts after a failure
        <input type="number" name="retry" min={0} max={1_000} value={fields.retry} onInput={set('retry')} />
      </label>
      <label>
        Input, as JSON (empty: none)
        <textarea name="input" rows={4} spellcheck={false} value={fields.input} onInput={set('input')} />
      </label>
    </ActionDialog>
  )
}

/** Another tab or deploy may have changed it since it was read: nothing of that is overwritten. */
async function demandUnchanged({ name, revision }: ScheduleView): Promise<void> {
  const current = await get<ScheduleView>(`schedules/${part(name)}`)
  if (current.revision === revision) return
  const hint = 'Close this dialog and look at the new definition first.'
  throw new ApiError(409, 'SCHEDULE_CHANGED', 'Someone has changed this schedule since you opened the dialog.', hint)
}

function changesOf(before: Fields, after: Fields, { trigger, policy }: ScheduleView): object {
  const has = (name: keyof Fields): boolean => before[name] !== after[name]
  return {
    ...(trigger?.kind === 'cron' && (has('rule') || has('tz')) ? { cron: cronOf(trigger, after) } : {}),
    ...(trigger?.kind === 'every' && has('rule') ? { every: after.rule.trim() } : {}),
    ...(has('overlap') ? { overlap: after.overlap } : {}),
    ...(has('retry') ? { retry: { ...retryOf(policy.retry), attempts: Number(after.retry) } } : {}),
    ...(has('input') ? { input: inputOf(after.input) } : {}),
  }
}

function cronOf(
  { kind: _, ...spec }: Extract<ScheduleView['trigger'], { kind: 'cron' }>,
  { rule, tz }: Fields,
): object {
  return { ...spec, expression: rule.trim(), tz: tz.trim() }
}

function retryOf({ baseMs, factor, capMs, jitter, crashes, deadlineMs }: ScheduleView['policy']['retry']): object {
  const deadline = deadlineMs === null ? {} : { deadline: deadlineMs }
  return { backoff: { base: baseMs, factor, cap: capMs, jitter }, crashes, ...deadline }
}

function inputOf(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ApiError(400, 'INPUT_INVALID', 'The input is not JSON.', (error as Error).message)
  }
}
