import type { Fact } from '../../facts/fact.ts'
import { NO_GUARD, PLATFORM_ZONE, type Schedule, type When, type Zone } from '../../facts/schedule.ts'
import { type PythonCall, type PythonModule, resolved } from './module.ts'
import { entryOf, evaluate, type Value } from './value.ts'

const FIELDS = ['minute', 'hour', 'day_of_week', 'day_of_month', 'month_of_year'] as const

/** Every `crontab(…)` of Celery, and the entries of beat schedules that state seconds. */
export function celeryFacts(module: PythonModule): readonly Fact[] {
  const crontabs = module.calls.filter(({ callee }) => /^celery\.schedules\.crontab$/.test(resolved(module, callee)))
  const entries = beatEntries(module)
  const zone = zoneOf(module)
  const fromCrontabs = crontabs.map((call) => {
    const entry = entries.find(({ value }) => isIn(call, value))
    return scheduleOf(module, call.line, crontabWhen(module, call), entry?.name ?? null, zone)
  })
  const periodic = entries.flatMap(({ name, value }) => {
    const schedule = entryOf(value, 'schedule')
    const ms = schedule === undefined ? null : millisecondsOf(module, schedule.value)
    return schedule === undefined || ms === null
      ? []
      : [scheduleOf(module, schedule.line, { kind: 'every', ms }, name, zone)]
  })
  return [...fromCrontabs, ...periodic]
}

const SETTINGS = ['CELERYBEAT_SCHEDULE', 'CELERY_BEAT_SCHEDULE', 'beat_schedule']

function beatEntries(module: PythonModule): readonly { readonly name: string; readonly value: Value }[] {
  const assigned = SETTINGS.flatMap((name) => module.constants.get(name) ?? [])
  const updated = module.calls.flatMap(({ keywords }) => SETTINGS.flatMap((name) => keywords.get(name) ?? []))
  return [...assigned, ...updated].flatMap((node) => {
    const value = evaluate(module, node)
    return value.kind === 'dict' ? value.entries.map((entry) => ({ name: entry.key, value: entry.value })) : []
  })
}

function isIn(call: PythonCall, entry: Value): boolean {
  const schedule = entryOf(entry, 'schedule')?.value
  return schedule?.kind === 'call' && schedule.node.equals(call.node)
}

function crontabWhen(module: PythonModule, call: PythonCall): When {
  const text = call.node.text.slice(0, 100)
  if (call.hasSplat) return { kind: 'unknown', text }
  const written = FIELDS.map((field, index) => {
    const node = call.keywords.get(field) ?? call.positional[index]
    if (node === undefined) return '*'
    const value = evaluate(module, node)
    if (value.kind === 'number') return String(value.number)
    if (value.kind === 'text') return value.text.replace(/\s+/g, '')
    const items =
      value.kind === 'list' ? value.items.map((item) => (item.kind === 'number' ? item.number : null)) : [null]
    return items.includes(null) ? null : items.join(',')
  })
  if (written.includes(null)) return { kind: 'unknown', text }
  const [minute, hour, weekday, day, month] = written
  return { kind: 'cron', expression: [minute, hour, day, month, weekday].join(' '), dialect: 'celery' }
}

const UNITS: Readonly<Record<string, number>> = { weeks: 604_800, days: 86_400, hours: 3600, minutes: 60, seconds: 1 }

function millisecondsOf(module: PythonModule, value: Value): number | null {
  if (value.kind === 'number') return value.number * 1000
  if (value.kind !== 'call' || !/(?:^|\.)timedelta$/.test(value.callee)) return null
  const call = module.callsById.get(value.node.id)
  let seconds = 0
  for (const [unit, node] of call?.keywords ?? []) {
    const count = evaluate(module, node)
    if (count.kind !== 'number' || UNITS[unit] === undefined) return null
    seconds += count.number * UNITS[unit]
  }
  return seconds > 0 ? seconds * 1000 : null
}

/** Celery uses UTC unless a zone is configured. */
function zoneOf(module: PythonModule): Zone {
  const names = ['CELERY_TIMEZONE', 'timezone']
  const nodes = [
    ...(module.constants.get('CELERY_TIMEZONE') ?? []),
    ...module.calls.flatMap(({ callee, keywords }) =>
      /\bconf\.update$/.test(callee) ? names.flatMap((name) => keywords.get(name) ?? []) : [],
    ),
  ]
  const value = nodes.length === 0 ? null : evaluate(module, nodes[0])
  if (value === null) return PLATFORM_ZONE
  return value.kind === 'text' ? { kind: 'stated', name: value.text } : { kind: 'computed' }
}

function scheduleOf({ path }: PythonModule, line: number, when: When, name: string | null, zone: Zone): Schedule {
  return {
    kind: 'schedule',
    place: { path, line },
    source: 'celery',
    runner: 'queue',
    name,
    when,
    zone,
    zoneGroup: null,
    guard: NO_GUARD,
    handler: { isAsync: null, effect: 'unknown', dropped: null, text: name ?? '' },
    overlap: 'unknown',
    isDynamic: false,
  }
}
