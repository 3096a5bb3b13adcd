import { CronceError, type CronOptions, type CronTrigger, cron, type EveryTrigger } from 'cronce/cron'
import { isUtc } from '../zone.ts'
import type { JobRecord } from './imported.ts'

export type ScheduleAnswer =
  | {
      readonly ok: true
      readonly options: Pick<JobRecord, 'cron' | 'every' | 'tz' | 'dialect' | 'days'>
      /** It means something a little different. */
      readonly changed?: { readonly what: string; readonly why: string; readonly todo: string }
    }
  | { readonly ok: false; readonly what: string; readonly why: string; readonly todo: string }

/** FreeBSD's and Go's, in words of ours. */
const FURTHER_MACROS: Readonly<Record<string, Pick<JobRecord, 'cron' | 'every'>>> = {
  '@every_minute': { cron: '* * * * *' },
  '@every_second': { every: '1s' },
}

/** The schedule of a crontab line as options of a job. */
export function readSchedule(schedule: string, tz: string, seed: string): ScheduleAnswer {
  const macro = FURTHER_MACROS[schedule.toLowerCase()]
  if (macro?.every !== undefined) return { ok: true, options: macro }
  if (macro !== undefined) return { ok: true, options: inZone(macro, tz) }
  if (/^@reboot$/i.test(schedule)) {
    return {
      ok: false,
      what: '@reboot',
      why: 'the start of a machine is not an instant that a fleet could agree on',
      todo: 'start it with the machine (systemd) or where your application starts',
    }
  }
  if (/^@\d+$/.test(schedule)) {
    return {
      ok: false,
      what: schedule,
      why: 'it counts from the end of the run before, which is not a schedule that a fleet could agree on',
      todo: `write every: '${schedule.slice(1)}s', which counts from start to start`,
    }
  }
  const every = /^@every (.+)$/i.exec(schedule)?.[1]
  if (every !== undefined) return readEvery(schedule, every)
  return schedule.includes('~') ? readRandom(schedule, tz, seed) : readFields(schedule, tz)
}

function readEvery(schedule: string, interval: string): ScheduleAnswer {
  const parsed = attempt(schedule, {})
  return parsed.ok ? { ok: true, options: { every: interval } } : refusal(schedule, parsed.error)
}

function readFields(schedule: string, tz: string): ScheduleAnswer {
  const parsed = attempt(schedule, { dialect: 'vixie', tz })
  if (!parsed.ok) return refusal(schedule, parsed.error)
  if (parsed.trigger.never) return never(schedule)
  const same = attempt(schedule, { tz })
  const isSame = same.ok && normalized(same.trigger) === normalized(parsed.trigger)
  return { ok: true, options: { ...inZone({ cron: schedule }, tz), ...(isSame ? {} : { dialect: 'vixie' }) } }
}

/** Cronie's `a~b`: a value drawn when the crontab is loaded. Ours is drawn from the name, so that all instances agree. */
function readRandom(schedule: string, tz: string, seed: string): ScheduleAnswer {
  const hashed = schedule
    .split(' ')
    .map((field, index) => (field.includes('~') ? hashField(field, LIMITS[index]!) : field))
    .join(' ')
  const parsed = attempt(hashed, { days: 'vixie', tz, seed })
  if (!parsed.ok) return refusal(schedule, parsed.error)
  if (parsed.trigger.never) return never(schedule)
  const same = attempt(hashed, { tz, seed })
  const isSame = same.ok && normalized(same.trigger) === normalized(parsed.trigger)
  return {
    ok: true,
    options: { ...inZone({ cron: hashed }, tz), ...(isSame ? {} : { days: 'vixie' }) },
    changed: {
      what: `random ${schedule}`,
      why: 'the value comes from the name of the job, and is the same on every machine and after every start',
      todo: 'nothing, or write the value that you want',
    },
  }
}

const LIMITS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const

function hashField(field: string, [min, max]: readonly [number, number]): string {
  return field.replace(/(\d*)~(\d*)/g, (_, from: string, to: string) => `H(${from || min}-${to || max})`)
}

function inZone<T extends object>(options: T, tz: string): T & { tz?: string } {
  return isUtc(tz) ? options : { ...options, tz }
}

type Parsed =
  | { readonly ok: true; readonly trigger: CronTrigger | EveryTrigger }
  | { readonly ok: false; readonly error: CronceError }

function attempt(expression: string, options: CronOptions): Parsed {
  try {
    return { ok: true, trigger: cron(expression, options) }
  } catch (error) {
    if (error instanceof CronceError) return { ok: false, error }
    throw error
  }
}

function normalized(trigger: CronTrigger | EveryTrigger): string {
  return trigger.kind === 'cron' ? trigger.normalized : `every ${trigger.everyMs}`
}

function never(schedule: string): ScheduleAnswer {
  return { ok: false, what: schedule, why: 'it never fires', todo: 'look at the day and the month' }
}

function refusal(schedule: string, { code, message, hint }: CronceError): ScheduleAnswer {
  const isStepFromValue = code === 'SYNTAX_UNSUPPORTED' && /(^|[ ,])\w+\//.test(schedule)
  return {
    ok: false,
    what: schedule,
    why: lower(message),
    todo: isStepFromValue
      ? 'write the range, such as 5-59/15: crons disagree about a step behind a single value'
      : lower(hint ?? 'write it anew'),
  }
}

/** Both become parts of a row, not sentences. */
function lower(text: string): string {
  const bare = text.replace(/\.$/, '')
  return /^[A-Z][a-z]/.test(bare) ? bare[0]!.toLowerCase() + bare.slice(1) : bare
}
