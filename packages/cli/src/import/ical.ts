import type { Finding, Place } from './imported.ts'

/** The closed days of an iCalendar file, as entries of a calendar. */
export interface ImportedCalendar {
  readonly days: readonly string[]
  readonly events: number
  readonly findings: readonly Finding[]
}

interface Property {
  readonly name: string
  readonly params: string
  readonly value: string
  readonly line: number
}

const DAY_MS = 86_400_000
/** A longer event is not a holiday. */
const MOST_DAYS = 366

/** All-day events, once or every year on the same date. Everything else is a finding. */
export function readIcal(text: string, file: string): ImportedCalendar {
  const days: string[] = []
  const findings: Finding[] = []
  const events = eventsIn(propertiesOf(text))
  for (const event of events) {
    const read = readEvent(event)
    if (typeof read === 'string') findings.push(lostEvent({ file, line: event[0]!.line }, summaryOf(event), read))
    else days.push(...read)
  }
  return { days, events: events.length, findings }
}

/** RFC 5545: a line that begins with a blank continues the one before. */
function propertiesOf(text: string): readonly Property[] {
  const lines: { text: string; readonly line: number }[] = []
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const last = lines.at(-1)
    if (/^[ \t]/.test(line) && last !== undefined) last.text += line.slice(1)
    else lines.push({ text: line, line: index + 1 })
  }
  return lines.flatMap(({ text: content, line }) => {
    const [, name, params, value] = /^([A-Za-z-]+)((?:;[^:"]*(?:"[^"]*")?)*):(.*)$/.exec(content) ?? []
    if (name === undefined) return []
    return { name: name.toUpperCase(), params: (params ?? '').toUpperCase(), value: (value ?? '').trim(), line }
  })
}

function eventsIn(properties: readonly Property[]): readonly (readonly Property[])[] {
  const events: Property[][] = []
  let event: Property[] | null = null
  // An alarm within an event has properties of its own.
  let inner = 0
  for (const property of properties) {
    const isEvent = property.value.toUpperCase() === 'VEVENT'
    if (property.name === 'BEGIN' && isEvent) event = [property]
    else if (event === null) continue
    else if (property.name === 'END' && isEvent) {
      events.push(event)
      event = null
    } else if (property.name === 'BEGIN') inner++
    else if (property.name === 'END') inner--
    else if (inner === 0) event.push(property)
  }
  return events
}

/** Its days as entries, or why it has none. */
function readEvent(event: readonly Property[]): readonly string[] | string {
  const find = (name: string): Property | undefined => event.find((property) => property.name === name)
  if (find('STATUS')?.value.toUpperCase() === 'CANCELLED') return []
  const start = dateOf(find('DTSTART'))
  if (start === null) return 'it is not an all-day event'
  const length = lengthOf(start, find('DTEND'), find('DURATION'))
  if (length === null || length < 1 || length > MOST_DAYS) return `its end is not within ${MOST_DAYS} days of its start`
  if (['RDATE', 'EXDATE', 'RECURRENCE-ID'].some((name) => find(name) !== undefined)) return 'it has single exceptions'
  const rule = find('RRULE')
  if (rule === undefined) return length === 1 ? [iso(start)] : [`${iso(start)}/${iso(start + (length - 1) * DAY_MS)}`]
  if (!isSameDateEachYear(rule.value.toUpperCase(), start)) return `it repeats by ${rule.value}`
  if (length > 1 && iso(start).slice(5) > iso(start + (length - 1) * DAY_MS).slice(5))
    return 'it repeats across the year'
  return Array.from({ length }, (_, index) => iso(start + index * DAY_MS).slice(5))
}

function isSameDateEachYear(rule: string, start: number): boolean {
  const parts = new Map(rule.split(';').map((part) => part.split('=') as [string, string]))
  const date = new Date(start)
  const usual: Readonly<Record<string, string>> = {
    FREQ: 'YEARLY',
    INTERVAL: '1',
    BYMONTH: String(date.getUTCMonth() + 1),
    BYMONTHDAY: String(date.getUTCDate()),
  }
  return parts.get('FREQ') === 'YEARLY' && [...parts].every(([name, value]) => name === 'WKST' || usual[name] === value)
}

/** In days; an end is not included. */
function lengthOf(start: number, end: Property | undefined, duration: Property | undefined): number | null {
  if (duration !== undefined) {
    const [, weeks, days] = /^P(?:(\d{1,3})W|(\d{1,3})D)$/i.exec(duration.value) ?? []
    return weeks === undefined ? (days === undefined ? null : Number(days)) : Number(weeks) * 7
  }
  if (end === undefined) return 1
  const at = dateOf(end)
  return at === null ? null : (at - start) / DAY_MS
}

function dateOf(property: Property | undefined): number | null {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(property?.value ?? '') ?? []
  const at = Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  return Number.isNaN(at) ? null : at
}

function iso(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

function summaryOf(event: readonly Property[]): string {
  const value = event.find(({ name }) => name === 'SUMMARY')?.value.replaceAll(/\\([\\;,])/g, '$1')
  return value === undefined || value === '' ? 'an event' : value.slice(0, 60)
}

function lostEvent(place: Place, what: string, why: string): Finding {
  return { place, level: 'lost', what, why, todo: 'add its days yourself' }
}
