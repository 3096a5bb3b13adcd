import {
  type Bounds,
  DAY_MS,
  invalid,
  isRecord,
  MINUTE_MS,
  optionInvalid,
  readDuration,
  readFields,
  readInteger,
  YEAR_MS,
} from '../client/read-option.ts'
import { readHttpUrl } from '../client/read-url.ts'
import type { Rule } from '../model/alert.ts'
import type { AlertChannel, AlertsOptions, SendAlert } from './channel.ts'
import type { AlertTimes } from './reconcile.ts'
import { THRESHOLDS, type Thresholds } from './rules/thresholds.ts'

/** One value that an option of a rule sets. */
interface Setting extends Bounds {
  readonly to: string
  readonly kind: 'duration' | 'count'
}

const TIME = { kind: 'duration', min: 1_000, max: 30 * DAY_MS } as const

/** What stands for a rule: a value, or an object of named values. */
const FORMS: Readonly<Record<Exclude<Rule, 'duplicate'>, Setting | Readonly<Record<string, Setting>>>> = {
  overdue: { to: 'afterMs', ...TIME },
  silent: { grace: { to: 'graceMs', ...TIME, min: 0 }, maxAge: { to: 'maxAgeMs', ...TIME, max: YEAR_MS } },
  failing: { to: 'count', kind: 'count', min: 1, max: 1_000 },
  stuck: { to: 'atLeastMs', ...TIME },
  slow: { to: 'atLeastMs', ...TIME },
  late: { to: 'atLeastMs', ...TIME },
  missed: {
    outage: { to: 'afterMs', ...TIME, min: 0 },
    // As many ends as a look reads of a schedule.
    skips: { to: 'skips', kind: 'count', min: 1, max: 50 },
  },
  'no-runner': { to: 'afterMs', ...TIME, min: 0 },
  fleet: {
    minInstances: { to: 'minInstances', kind: 'count', min: 0, max: 100_000 },
    deaths: { to: 'deaths', kind: 'count', min: 1, max: 1_000 },
    rollout: { to: 'rolloutMs', ...TIME },
  },
  clock: { to: 'offsetMs', kind: 'duration', min: 1, max: DAY_MS },
  store: { to: 'latencyMs', kind: 'duration', min: 1, max: MINUTE_MS },
}

/** What a rule with several values is given as a single one. */
const SHORT: Partial<Readonly<Record<Rule, string>>> = { missed: 'outage' }

const OF_JOBS = ['overdue', 'silent', 'failing', 'stuck', 'slow', 'late', 'missed', 'no-runner'] as const
const OF_APPS = [...OF_JOBS, 'fleet', 'clock', 'store', 'duplicate'] as const

/** The thresholds that the option `watch` of a job or an app chooses; the others are those of `base`. */
export function readWatch(options: unknown, of: 'app' | 'job', base: Thresholds = THRESHOLDS): Thresholds {
  if (options === undefined) return base
  const names: readonly Rule[] = of === 'app' ? OF_APPS : OF_JOBS
  const given = readFields('watch', options, names, "{ overdue: '5m' }")
  const chosen = Object.entries(given).map(([rule, value]) => [rule, readRule(rule as Rule, value, base)])
  return { ...base, ...Object.fromEntries(chosen) }
}

function readRule(rule: Rule, value: unknown, base: Thresholds): object | false {
  const path = `watch.${rule}`
  if (value === false) return false
  if (rule === 'duplicate') throw invalid(path, value, 'false', 'false')
  const form = FORMS[rule]
  const before = base[rule] === false ? THRESHOLDS[rule] : base[rule]
  const usual: Readonly<Record<string, number | null>> = THRESHOLDS[rule]
  if (isSetting(form)) return { ...before, [form.to]: readSetting(path, value, form, usual) }
  const short = isRecord(value) ? undefined : SHORT[rule]
  if (short !== undefined) return { ...before, [form[short]!.to]: readSetting(path, value, form[short]!, usual) }
  const fields = readFields(path, value, Object.keys(form), sampleOf(form))
  const set = Object.entries(fields).map(([name, field]) => {
    const setting = form[name]!
    return [setting.to, readSetting(`${path}.${name}`, field, setting, usual)]
  })
  return { ...before, ...Object.fromEntries(set) }
}

function isSetting(form: Setting | Readonly<Record<string, Setting>>): form is Setting {
  return typeof form.to === 'string'
}

function sampleOf(form: Readonly<Record<string, Setting>>): string {
  const [name, setting] = Object.entries(form)[0]!
  return `{ ${name}: ${setting.kind === 'count' ? '3' : "'15m'"} }`
}

function readSetting(
  path: string,
  value: unknown,
  { to, kind, min, max }: Setting,
  usual: Readonly<Record<string, number | null>>,
): number {
  if (kind === 'count') return readInteger(path, value, { min, max })
  return readDuration(path, value, { min, max, usual: usual[to] ?? undefined })
}

/** What the option `alerts` says, with defaults. */
export interface ReadAlerts extends AlertTimes {
  readonly channels: readonly AlertChannel[]
  readonly publicUrl: string | null
}

const REPEAT_MS = 4 * 3_600_000
const GATHER_MS = 10_000

export function readAlerts(options: unknown): ReadAlerts {
  const names = ['channels', 'repeat', 'gather', 'publicUrl'] as const satisfies readonly (keyof AlertsOptions)[]
  const given = readFields('alerts', options ?? {}, names, '{ channels: [slack({ url })] }')
  return {
    channels: readChannels(given.channels ?? []),
    repeatMs: readDuration('alerts.repeat', given.repeat ?? REPEAT_MS, {
      ...{ min: MINUTE_MS, max: 30 * DAY_MS, usual: REPEAT_MS },
    }),
    gatherMs: readDuration('alerts.gather', given.gather ?? GATHER_MS, {
      ...{ min: 0, max: 10 * MINUTE_MS, usual: GATHER_MS },
    }),
    publicUrl: given.publicUrl === undefined ? null : readPublicUrl(given.publicUrl),
  }
}

function readPublicUrl(url: unknown): string {
  return readHttpUrl('alerts.publicUrl', url, "Write alerts: { publicUrl: 'https://cronce.example.com' }.")
}

function readChannels(channels: unknown): readonly AlertChannel[] {
  if (!Array.isArray(channels)) throw invalid('alerts.channels', channels, 'an array of channels', '[slack({ url })]')
  const read = channels.map((channel: unknown, index) => readChannel(channel, index))
  const names = read.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return read
  throw optionInvalid(
    'alerts.channels',
    twice,
    'channels with different names',
    "Name one of them: slack({ url, name: 'ops' }).",
  )
}

function readChannel(channel: unknown, index: number): AlertChannel {
  const path = `alerts.channels.${index}`
  if (typeof channel === 'function') return { name: `function-${index + 1}`, send: channel as SendAlert }
  const { name, send, filter } = (isRecord(channel) ? channel : {}) as Partial<AlertChannel>
  const isChannel = typeof name === 'string' && /^[\w.-]{1,50}$/.test(name) && typeof send === 'function'
  if (isChannel && (filter === undefined || typeof filter === 'function')) return { name, send, filter }
  throw optionInvalid(
    path,
    channel,
    'a function, or a channel of cronce/alerts',
    "Import slack, pagerDuty, alertmanager or webhook from 'cronce/alerts', or write async (message) => { … }.",
  )
}
