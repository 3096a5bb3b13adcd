import type { ScheduleView } from 'cronce'
import { comingOf } from '../schedule-times.ts'
import { triggerWords, triggerZone } from '../trigger-words.ts'

export interface IcalOptions {
  readonly now: number
  readonly to: number
  readonly namespace: string
}

export interface RenderedIcal {
  readonly text: string
  readonly events: number
  /** Schedules of which only the first events are in it. */
  readonly cut: readonly string[]
}

/** Of one schedule: a job of every minute is nothing for a calendar. */
export const MOST_EVENTS = 1_000
/** RFC 5545: lines have at most 75 bytes, and more follows on the next line after a blank. */
const LINE_BYTES = 75

/** The coming fires as an iCalendar file. The `UID` of a fire is its identity, so that a later file replaces an earlier one. */
export function renderIcal(schedules: readonly ScheduleView[], { now, to, namespace }: IcalOptions): RenderedIcal {
  const lines = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//cronce//cronce export ical//EN', 'CALSCALE:GREGORIAN']
  const cut: string[] = []
  let events = 0
  for (const schedule of schedules) {
    const { name, job, trigger } = schedule
    const fires = comingOf(schedule, now, MOST_EVENTS + 1, to)
    if (fires.length > MOST_EVENTS) cut.push(name)
    for (const at of fires.slice(0, MOST_EVENTS)) {
      events++
      lines.push(
        'BEGIN:VEVENT',
        `UID:${escapeText(`${at}.${namespace}.${name}`)}@cronce`,
        `DTSTAMP:${stamp(now)}`,
        `DTSTART:${stamp(at)}`,
        `SUMMARY:${escapeText(name)}`,
        `DESCRIPTION:${escapeText(`Job ${job}. ${triggerWords(trigger, triggerZone(trigger))}.`)}`,
        'TRANSP:TRANSPARENT',
        'END:VEVENT',
      )
    }
  }
  lines.push('END:VCALENDAR')
  return { text: lines.map((line) => `${fold(line)}\r\n`).join(''), events, cut }
}

function stamp(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
}

function escapeText(text: string): string {
  return text.replaceAll(/[\\;,]/g, '\\$&').replaceAll(/\r?\n/g, '\\n')
}

function fold(line: string): string {
  let folded = ''
  let bytes = 0
  // By characters, so that none is cut in two.
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (bytes + size > LINE_BYTES) {
      folded += '\r\n '
      bytes = 1
    }
    folded += character
    bytes += size
  }
  return folded
}
