import { type Placement, placedJob, placementText } from '../model/placement.ts'
import type { Definition, Instant } from '../model/schedule.ts'
import type { TriggerData } from '../trigger/trigger.ts'
import { inSubject } from './in-subject.ts'
import { type Calendars, NO_CALENDARS } from './read-calendar.ts'
import { readInput } from './read-input.ts'
import { readName, readOwnName } from './read-name.ts'
import { optionConflict, readFields, readInstant, readInteger } from './read-option.ts'
import { readPlacement } from './read-placement.ts'
import { POLICY_NAMES, readPolicy } from './read-policy.ts'
import { readTrigger, TRIGGER_NAMES } from './read-trigger.ts'
import type { NewSchedule, PolicyOptions, ScheduleOptions } from './schedule-options.ts'
import { suspicionsOf } from './suspicions.ts'

export interface ReadDefinition {
  readonly definition: Definition
  /** What was changed on the way, and what is probably not meant, in sentences. */
  readonly warnings: readonly string[]
}

export const SCHEDULE_NAMES = [
  'job',
  'input',
  'start',
  'end',
  'limit',
  'tenant',
  'on',
  ...TRIGGER_NAMES,
  ...POLICY_NAMES,
] as const satisfies readonly (keyof NewSchedule)[]

/**
 * What users write, as data for the model. The job is the one named in the options, or else the one of the schedule's name.
 * `defaults` are the job's own policies: they hold where the schedule says nothing.
 */
export function readDefinition(
  name: string,
  options: ScheduleOptions | NewSchedule,
  defaults: PolicyOptions = {},
  what: 'Job' | 'Schedule' = 'Schedule',
  calendars: Calendars = NO_CALENDARS,
): ReadDefinition {
  const id = readOwnName('schedule', name)
  return inSubject(what, id, () => readNamed(id, options, defaults, what, calendars))
}

function readNamed(
  id: string,
  options: ScheduleOptions | NewSchedule,
  defaults: PolicyOptions,
  what: 'Job' | 'Schedule',
  calendars: Calendars,
): ReadDefinition {
  const fields = readFields('', options, SCHEDULE_NAMES, "{ cron: '0 3 * * *' }")
  const trigger = readTrigger(id, fields, calendars)
  const { policy, warnings } = readPolicy({ ...readFields('', defaults, POLICY_NAMES, '{ retry: 3 }'), ...fields })
  const on = readPlacement(fields.on)
  const job = readOwnName('job', fields.job === undefined ? id : fields.job)
  const definition: Definition = {
    job: on === undefined || what === 'Job' ? job : readOwnName('job', placeJob(job, on)),
    trigger,
    input: readInput(fields.input),
    policy,
    ...readWindow(fields, trigger),
    tenant: fields.tenant === undefined ? null : readName('tenant', fields.tenant),
    ...(on === undefined ? {} : { on }),
  }
  return { definition, warnings: [...warnings, ...suspicionsOf(fields)] }
}

/** The job as the instances with the label have it: an instance asks for what is due by the names of its jobs. */
function placeJob(job: string, on: Placement): string {
  const [[label, values], ...more] = Object.entries(on) as [[string, readonly string[]]]
  if (more.length === 0 && values.length === 1) return placedJob(job, label, values[0]!)
  throw optionConflict(
    `A schedule made at run time belongs to one label with one value, not to ${placementText(on)}.`,
    "Name one label, such as on: { zone: 'a' }, or declare a job with this on and make the schedule for that job.",
  )
}

/** More than any schedule lives to see. */
const MOST_FIRES = 1_000_000_000

function readWindow(
  fields: Readonly<Partial<Record<keyof ScheduleOptions, unknown>>>,
  trigger: TriggerData | null,
): Pick<Definition, 'start' | 'end' | 'limit'> {
  const given = (['start', 'end', 'limit'] as const).find((option) => fields[option] !== undefined)
  if (trigger === null && given !== undefined) {
    throw optionConflict(
      `The option ${given} means nothing without a trigger.`,
      `Leave out ${given}, or add cron, every or at.`,
    )
  }
  const start = fields.start === undefined ? null : readInstant('start', fields.start)
  const end = fields.end === undefined ? null : readInstant('end', fields.end)
  const limit = fields.limit === undefined ? null : readInteger('limit', fields.limit, { min: 1, max: MOST_FIRES })
  if (start !== null && end !== null && end <= start) {
    throw optionConflict('The schedule ends before it starts.', 'Make end later than start.')
  }
  if (trigger?.kind === 'at' && !isWithin(trigger.at, start, end)) {
    throw optionConflict('The instant of at is not between start and end.', 'Leave out start and end.')
  }
  return { start, end, limit }
}

function isWithin(at: Instant, start: Instant | null, end: Instant | null): boolean {
  return (start === null || at >= start) && (end === null || at < end)
}
