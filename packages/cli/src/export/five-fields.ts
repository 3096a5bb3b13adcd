import { CronceError, type CronOptions, type CronTrigger, cron, type TriggerData, trigger } from 'cronce/cron'
import { formatDuration } from '../format.ts'
import { isUtc } from '../zone.ts'

export type FiveFields =
  | {
      readonly ok: true
      /** For the other one. */
      readonly expression: string
      /** For `--cron`: the same times in our own dialect. */
      readonly ours: string
      readonly tz: string
      readonly trigger: CronTrigger
    }
  | { readonly ok: false; readonly why: string; readonly todo: string }

/** A trigger in five fields, for a cron of that kind. As it was written, if that will do; else in plain numbers. */
export function fiveFields(data: TriggerData | null, dialect: 'kubernetes' | 'vixie'): FiveFields {
  if (data === null) return no('it has no schedule', 'trigger it with cronce run')
  const due = trigger(data)
  switch (due.kind) {
    case 'at':
      return no('it is due once', 'run it then with cronce start')
    case 'every':
      return no(`every ${formatDuration(due.everyMs)} is elapsed time`, everyHint(due.everyMs, due.anchor))
    case 'cron': {
      if (due.excluded !== null) return no('it has a calendar', 'run it with cronce start')
      const written = due.expression.replace(/^\s*(?:CRON_)?TZ=\S+\s+/, '')
      const expression = [written, due.normalized].find((text) => means(text, due, { dialect }))
      if (expression === undefined) return no(whyNot(due), 'run it with cronce start')
      const ours = means(written, due, {}) ? written : due.normalized
      return { ok: true, expression, ours, tz: isUtc(due.tz) ? 'UTC' : due.tz, trigger: due }
    }
  }
}

function no(why: string, todo: string): FiveFields {
  return { ok: false, why, todo }
}

function means(text: string, due: CronTrigger, options: CronOptions): boolean {
  try {
    const read = cron(text, { tz: due.tz, ...options })
    return read.kind === 'cron' && read.normalized === due.normalized && !/^\S+(\s+\S+){5,}/.test(text)
  } catch (error) {
    if (error instanceof CronceError) return false
    throw error
  }
}

function whyNot({ timing, fields, normalized }: CronTrigger): string {
  if (timing === 'event') return 'it has no instants'
  if (fields.years !== null) return `it names years: ${normalized}`
  if (fields.seconds.length > 1 || fields.seconds[0] !== 0) return `it names seconds: ${normalized}`
  if (fields.days.specials.length + fields.weekdays.specials.length > 0) return `it has L, W or #: ${normalized}`
  return `both day fields must hold: ${normalized}`
}

/** Of elapsed time that falls on the clock, what would be the same. */
function everyHint(everyMs: number, anchor: number): string {
  const minutes = everyMs / 60_000
  const otherwise = 'run it with cronce start'
  if (anchor % everyMs !== 0 || !Number.isInteger(minutes)) return otherwise
  if (60 % minutes === 0) return `write cron: '${minutes === 1 ? '*' : minutes === 60 ? '0' : `*/${minutes}`} * * * *'`
  const hours = minutes / 60
  if (Number.isInteger(hours) && 24 % hours === 0) return `write cron: '0 ${hours === 24 ? '0' : `*/${hours}`} * * *'`
  return otherwise
}
