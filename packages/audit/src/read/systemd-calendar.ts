const SHORTHANDS: Readonly<Record<string, string>> = {
  minutely: '*-*-* *:*:00',
  hourly: '*-*-* *:00:00',
  daily: '*-*-* 00:00:00',
  monthly: '*-*-01 00:00:00',
  weekly: 'Mon *-*-* 00:00:00',
  yearly: '*-01-01 00:00:00',
  annually: '*-01-01 00:00:00',
  quarterly: '*-01,04,07,10-01 00:00:00',
  semiannually: '*-01,07-01 00:00:00',
}

export interface CalendarParts {
  readonly isEveryDay: boolean
  readonly isDailyOrRarer: boolean
  readonly isFixedHour: boolean
  /** `null`: the zone of the host. */
  readonly zone: string | null
}

const WEEKDAYS = /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*(?:\.\.|-|,|$))+/i
const DATE = /^(?:[\d*,./]+-)?[\d*,./]+[-~][\d*,./~]+$/
const TIME = /^([\d*,./]+):([\d*,./]+)(?::([\d*,./]+))?$/
const ZONE = /^(?:UTC|[A-Z][A-Za-z]+(?:\/[A-Za-z_+\-\d]+)+|[A-Z]{3,4})$/

function isZone(word: string): boolean {
  return ZONE.test(word) && !WEEKDAYS.test(word)
}

/** The parts of a calendar expression of systemd; `null` if it is none. */
export function calendarParts(text: string): CalendarParts | null {
  const written = text.trim().split(/\s+/)
  const last = written.at(-1) ?? ''
  const zone = written.length > 1 && isZone(last) ? last : null
  const words = zone === null ? written : written.slice(0, -1)
  const parts = (words.length === 1 ? (SHORTHANDS[words[0]!.toLowerCase()] ?? words[0]!) : words.join(' ')).split(' ')
  let isEveryDay = true
  let time: readonly string[] = ['00', '00', '00']
  for (const part of parts) {
    const match = TIME.exec(part)
    if (match !== null) time = [match[1]!, match[2]!, match[3] ?? '00']
    else if (DATE.test(part)) isEveryDay &&= /^(?:\*-)?\*-\*$/.test(part)
    else if (WEEKDAYS.test(part)) isEveryDay &&= /^Mon\w*\.\.Sun/i.test(part)
    else return null
  }
  const isFixedHour = !/\*|^0+\/\d+$/.test(time[0]!)
  return { isEveryDay, isDailyOrRarer: time.every((field) => /^\d+(?:\.\d+)?$/.test(field)), isFixedHour, zone }
}
