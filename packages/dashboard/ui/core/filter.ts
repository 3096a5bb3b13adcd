import type { ScheduleView } from './types.ts'

/** `state:paused job:mail "free text"`: all conditions must hold. */
export type Condition = (schedule: ScheduleView) => boolean

const FIELDS: Readonly<Record<string, (value: string) => Condition>> = {
  state: (value) => (schedule) => schedule.state === value,
  job: (value) => (schedule) => has(schedule.job, value),
  name: (value) => (schedule) => has(schedule.name, value),
  app: (value) => (schedule) => has(schedule.app ?? '', value),
  tenant: (value) => (schedule) => has(schedule.tenant ?? '', value),
  zone: (value) => (schedule) => schedule.trigger?.kind === 'cron' && has(schedule.trigger.tz ?? 'UTC', value),
  is: (value) => IS[value] ?? (() => false),
}

const IS: Readonly<Record<string, Condition>> = {
  failing: ({ failedInRow }) => failedInRow > 0,
  running: ({ open }) => open.some(({ state }) => state !== 'waiting'),
  dynamic: ({ app }) => app === null,
}

export const FILTER_WORDS =
  'state:paused  job:mail  app:shop  tenant:acme  zone:Berlin  is:failing  is:running  is:dynamic  "any text"'

function has(text: string, wanted: string): boolean {
  return text.toLowerCase().includes(wanted)
}

export function readFilter(text: string): Condition {
  const tokens = text.match(/\w+:"[^"]*"|"[^"]*"|\S+/g) ?? []
  const conditions = tokens.map(readToken)
  return (schedule) => conditions.every((condition) => condition(schedule))
}

function readToken(token: string): Condition {
  const [, field, value] = /^(\w+):(.+)$/.exec(token) ?? []
  const wanted = (value ?? token).replaceAll('"', '').toLowerCase()
  const make = field === undefined ? undefined : FIELDS[field]
  return make === undefined ? ({ name, job }) => has(name, wanted) || has(job, wanted) : make(wanted)
}
