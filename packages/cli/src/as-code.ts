import type { NewSchedule, ScheduleView } from 'cronce'
import { definitionOf } from './definition-of.ts'

type Options = Readonly<Record<string, unknown>>

const DAY_MS = 86_400_000

/** What a schedule that names no policy has. It need not be written. */
export const DEFAULT_OPTIONS: Options = {
  guarantee: 'at-least-once',
  overlap: 'skip',
  misfire: { grace: 10_000, late: 'latest', limit: 100, window: DAY_MS },
  retry: { attempts: 0, backoff: { base: 1_000, factor: 2, cap: 300_000, jitter: 0.5 }, crashes: 2 },
  timeout: { grace: 10_000 },
  jitter: { within: 0, kind: 'fixed' },
  retention: { keep: 30 * DAY_MS, count: 1_000 },
  unknownStep: 'fail',
}
/** Options whose value is a duration. */
const DURATIONS = ['grace', 'window', 'base', 'cap', 'deadline', 'run', 'within', 'keep', 'interval']
const UNITS = [
  ['d', DAY_MS],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** The call that makes this schedule. A job that code declares stands in `app.job`, all others are put by a client. */
export function asCode(schedule: ScheduleView): string {
  const { name, app } = schedule
  const { job, ...options } = shortened(definitionOf(schedule))
  if (app === null) return `await app.schedules.put(${literal(name)}, ${literal({ job, ...options })})`
  return `app.job(${literal(name)}, ${literal(options)}, async (run) => {})`
}

/** Without defaults, and as people write it. */
function shortened(definition: NewSchedule): Options {
  const kept = Object.entries(definition).map(([name, value]) => [name, differing(value, DEFAULT_OPTIONS[name])])
  const options: Record<string, unknown> = Object.fromEntries(kept.filter(([, value]) => value !== undefined))
  const { cron: _, every: __, at: ___, ...rest } = options
  return { job: definition.job, ...dueOf(definition), ...rest }
}

function dueOf({ cron, every, at }: NewSchedule): Options {
  if (typeof every === 'object') return { every: every.anchor === 0 ? spell(every.interval as number) : every }
  if (typeof cron !== 'object') return at === undefined ? {} : { at }
  const { expression, tz, ...details } = cron
  if (Object.keys(details).length > 0) return { cron }
  return { cron: expression, ...(tz === undefined ? {} : { tz }) }
}

/** What differs from the default; `undefined`: nothing does. */
function differing(value: unknown, usual: unknown): unknown {
  if (!isOptions(value) || !isOptions(usual)) return value === usual ? undefined : value
  const parts = Object.entries(value).map(([name, one]) => [name, differing(one, usual[name])] as const)
  const changed = parts.filter(([, one]) => one !== undefined)
  if (changed.length === 0) return undefined
  // A jitter needs its width, also if only its kind differs.
  return Object.fromEntries('within' in value ? [['within', value['within']], ...changed] : changed)
}

function isOptions(value: unknown): value is Options {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value as JavaScript. */
function literal(value: unknown, name = ''): string {
  if (typeof value === 'number' && DURATIONS.includes(name)) return literal(spell(value))
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  if (Array.isArray(value)) return `[${value.map((one) => literal(one)).join(', ')}]`
  if (!isOptions(value)) return JSON.stringify(value)
  const fields = Object.entries(value).map(([key, one]) => `${keyText(key)}: ${literal(one, key)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

function keyText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : literal(key)
}

/** `90m` for 5,400,000; milliseconds that are no whole seconds stay as they are. */
function spell(ms: number): string | number {
  const [unit, size] = UNITS.find(([, one]) => ms !== 0 && ms % one === 0) ?? ['', 1]
  return unit === '' ? ms : `${ms / size}${unit}`
}
