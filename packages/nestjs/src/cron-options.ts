import { CronceError, type CronOnlyOptions, type JobOnlyOptions, type JobOptions, type StandardSchema } from 'cronce'
import type { Declaration } from './declarations.ts'

/** Options of `@Cron`: those of `@nestjs/schedule`, and those of a cronce job. */
export interface CronOptions<Schema extends StandardSchema | undefined = undefined>
  extends JobOnlyOptions<Schema>,
    CronOnlyOptions {
  /** @default 'ClassName.method' */
  readonly name?: string | undefined
  /** @default the zone of the machine, as in `@nestjs/schedule`; `@Job` has UTC */
  readonly timeZone?: string | undefined
  /** In minutes. */
  readonly utcOffset?: number | undefined
  /** `true`: `overlap: 'skip'`, in the whole fleet. `false`: `overlap: 'allow'`. @default true */
  readonly waitForCompletion?: boolean | undefined
  /** In milliseconds: fires that are later are recorded as missed. @default the option `misfire` */
  readonly threshold?: number | undefined
  /** `true` is refused: a process without the job would look like a newer release that has dropped it. */
  readonly disabled?: false | undefined
}

const HOST_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Translates the arguments of `@Cron`. Throws what has no meaning in a fleet. */
export function readCron(cronTime: unknown, given: CronOptions<StandardSchema | undefined> = {}): Declaration {
  refuseOptions(given)
  const { name, timeZone, utcOffset, waitForCompletion, threshold, disabled: _, ...rest } = given
  demandOne('waitForCompletion', waitForCompletion, 'overlap', rest.overlap)
  demandOne('threshold', threshold, 'misfire', rest.misfire)
  const policies = {
    ...rest,
    ...(waitForCompletion === undefined ? {} : { overlap: waitForCompletion ? 'skip' : 'allow' }),
    ...(threshold === undefined ? {} : { misfire: { grace: threshold, late: 'skip' } }),
  }
  if (cronTime instanceof Date) return { name, options: { ...policies, at: cronTime } as JobOptions }
  if (typeof cronTime !== 'string') {
    throw new CronceError(
      'OPTION_INVALID',
      `@Cron takes an expression or a Date, not a value of type ${typeof cronTime}.`,
      {
        hint: "Write @Cron('0 3 * * *'), or call toJSDate() on a DateTime of Luxon.",
      },
    )
  }
  const { tz, warning } = readZone(given)
  const options = { ...policies, cron: cronTime, ...(tz === undefined ? {} : { tz }) } as JobOptions
  return { name, options, ...(warning === undefined ? {} : { warning }) }
}

/** Options that JavaScript may pass although the type has no place for them. */
function refuseOptions(given: object): void {
  const { disabled, initialDelay, unrefTimeout } = given as Readonly<Record<string, unknown>>
  if (disabled === true) {
    throw refused('disabled', 'a process without the job would look like a newer release that has dropped it', {
      hint: "Leave the option out: each fire runs in one process. Pause a schedule with `cronce pause NAME`; on: { role: 'worker' } says which instances run it.",
    })
  }
  if (initialDelay !== undefined) {
    throw refused('initialDelay', 'the due times belong to the fleet, not to the start of a process', {
      hint: 'Leave the option out, or write start: the first instant at which the job may be due.',
    })
  }
  if (unrefTimeout !== undefined) {
    throw refused('unrefTimeout', 'no timer belongs to a single job', {
      hint: 'Leave the option out. keepAlive: false in CronceModule.forRoot() lets the process end.',
    })
  }
}

function refused(option: string, reason: string, { hint }: { readonly hint: string }): CronceError {
  return new CronceError('OPTION_INVALID', `@Cron does not take the option ${option}: ${reason}.`, { hint })
}

function demandOne(theirs: string, theirValue: unknown, ours: string, ourValue: unknown): void {
  if (theirValue === undefined || ourValue === undefined) return
  throw new CronceError('OPTION_CONFLICT', `The options ${theirs} and ${ours} of @Cron say the same thing.`, {
    hint: `Leave out ${theirs}.`,
  })
}

function readZone({ tz, timeZone, utcOffset }: CronOptions<StandardSchema | undefined>): {
  readonly tz?: string | undefined
  readonly warning?: string
} {
  demandOne('timeZone', timeZone, 'tz', tz)
  demandOne('utcOffset', utcOffset, timeZone === undefined ? 'tz' : 'timeZone', tz ?? timeZone)
  const zone = tz ?? timeZone ?? (utcOffset === undefined ? undefined : offsetZone(utcOffset))
  if (zone !== undefined || /^(?:Etc\/)?(?:UTC|UCT|GMT|Unknown)$/.test(HOST_ZONE)) return { tz: zone }
  return {
    tz: HOST_ZONE,
    warning: `It fires in the zone of this machine, ${HOST_ZONE}, as with @nestjs/schedule. Write timeZone, so that all machines agree.`,
  }
}

const HOUR_MINUTES = 60

/** 90 minutes are `+01:30`. */
function offsetZone(minutes: number): string {
  const part = (value: number): string => String(Math.trunc(Math.abs(value))).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${part(minutes / HOUR_MINUTES)}:${part(minutes % HOUR_MINUTES)}`
}
