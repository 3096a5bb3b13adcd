import type { Fact } from '../facts/fact.ts'
import { NO_GUARD, type Schedule } from '../facts/schedule.ts'
import type { Calendar, SystemdTimer } from '../facts/systemd-timer.ts'
import { isAside } from './paths.ts'
import type { Reader } from './reader.ts'
import { type CalendarParts, calendarParts } from './systemd-calendar.ts'
import { ignoredReason } from './systemd-settings.ts'
import { shellWords } from './words.ts'

interface Setting {
  readonly section: string
  readonly key: string
  readonly value: string
  readonly line: number
}

const MAX_LINES = 20_000

export const systemdReader: Reader = {
  name: 'systemd',
  reads: (path) => /\.(?:timer|service)(?:\.(?:j2|in|tmpl|template|example))?$/.test(path) && !isAside(path),
  mayHoldFacts: (text) => /^\s*\[(?:Timer|Service)\]/im.test(text),
  read: ({ path, text }) => {
    const settings = settingsOf(text)
    return /\.timer\b/.test(path) ? timerFacts(path, settings) : serviceFacts(path, settings)
  },
}

/** A backslash at the end of a line continues it. Comments stand on lines of their own. */
function settingsOf(text: string): readonly Setting[] {
  const settings: Setting[] = []
  let section = ''
  const lines = text.split('\n', MAX_LINES)
  for (let at = 0; at < lines.length; at++) {
    const line = at + 1
    let written = lines[at]!.trim()
    if (written === '' || /^[#;]/.test(written)) continue
    while (written.endsWith('\\') && at + 1 < lines.length && written.length < 10_000) {
      at++
      written = `${written.slice(0, -1)} ${lines[at]!.trim()}`
    }
    const header = /^\[([^\]]+)\]/.exec(written)
    if (header !== null) section = header[1]!
    const equals = written.indexOf('=')
    if (header === null && equals > 0)
      settings.push({ section, key: written.slice(0, equals).trim(), value: written.slice(equals + 1).trim(), line })
  }
  return settings
}

function serviceFacts(path: string, settings: readonly Setting[]): readonly Fact[] {
  return settings
    .filter(({ section, key }) => section === 'Service' && key === 'ExecStart')
    .map(({ value, line }) => ({
      kind: 'command',
      place: { path, line },
      words: shellWords(value.replace(/^[-@:+!]+/, '')),
    }))
}

function timerFacts(path: string, settings: readonly Setting[]): readonly Fact[] {
  const isCalendar = settings.some(({ key, value }) => key === 'OnCalendar' && value !== '')
  const ignored = settings.flatMap((setting) => {
    const reason = ignoredReason(setting, isCalendar)
    return reason === null ? [] : [{ key: setting.key, place: { path, line: setting.line }, reason }]
  })
  const used = settings.filter(({ section }) => section === 'Timer')
  const first = settings.find(({ key }) => /^On(?:Calendar|Boot|Active|Startup|UnitActive|UnitInactive)/.test(key))
  if (first === undefined && ignored.length === 0) return []
  const calendars = effectiveCalendars(path, used)
  const timer: SystemdTimer = {
    kind: 'systemd-timer',
    place: { path, line: first?.line ?? 1 },
    calendars: calendars.map(({ calendar }) => calendar),
    // The last one counts.
    isPersistent: /^(?:1|yes|true|on|y|t)$/i.test(used.findLast(({ key }) => key === 'Persistent')?.value ?? 'no'),
    ignored,
  }
  return [timer, ...calendars.map(({ calendar, parts }) => scheduleOf(calendar, parts))]
}

interface Read {
  readonly calendar: Calendar
  readonly parts: CalendarParts | null
}

/** An empty `OnCalendar=` takes back those before it. */
function effectiveCalendars(path: string, used: readonly Setting[]): readonly Read[] {
  const all = used.filter(({ key }) => key === 'OnCalendar')
  const reset = all.findLastIndex(({ value }) => value === '')
  return all.slice(reset + 1).map(({ value, line }) => {
    const parts = calendarParts(value)
    const { isEveryDay = false, isDailyOrRarer = false } = parts ?? {}
    return { calendar: { text: value, place: { path, line }, isEveryDay, isDailyOrRarer }, parts }
  })
}

function scheduleOf({ text, place }: Calendar, parts: CalendarParts | null): Schedule {
  return {
    kind: 'schedule',
    place,
    source: 'systemd',
    runner: 'host',
    name: place.path.slice(place.path.lastIndexOf('/') + 1),
    when: parts === null ? { kind: 'unknown', text } : { kind: 'calendar', text, isFixedHour: parts.isFixedHour },
    zone: parts === null || parts.zone === null ? { kind: 'none' } : { kind: 'stated', name: parts.zone },
    zoneGroup: place.path,
    guard: NO_GUARD,
    handler: { isAsync: null, effect: 'unknown', dropped: null, text: place.path.replace(/\.timer.*$/, '.service') },
    // systemd does not start a service that is still running.
    overlap: 'prevented',
    isDynamic: false,
  }
}
