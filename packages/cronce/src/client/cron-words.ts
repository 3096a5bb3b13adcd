/** Days in words, and the last three fields of an expression for them. */
const DAYS: readonly (readonly [RegExp, string])[] = [
  [/^(?:|day|daily|everyday|night|nightly)$/, '* * *'],
  [/^(?:weekdays?|workdays?|business days?|mon(?:day)?(?: to | through |-| - )fri(?:day)?)$/, '* * 1-5'],
  [/^weekends?$/, '* * 0,6'],
  [/^(?:week|weekly)$/, '* * 0'],
  [/^(?:month|monthly|(?:first|1st)(?: day)? of month)$/, '1 * *'],
  [/^(?:year|yearly|annual|annually)$/, '1 1 *'],
]

/** What has no time of day. */
const STEADY: Readonly<Record<string, string>> = {
  second: '* * * * * *',
  minute: '* * * * *',
  hour: '0 * * * *',
  hourly: '0 * * * *',
}

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

const TIME = /^(.*?)\s*(\bat\s+|@\s*)?(?:(\d{1,2})(?::(\d\d))?\s*(am|pm)?|\b(noon|midnight))$/

/** `0 3 * * *` for `daily at 3am`; `null`: not known. */
export function cronOfWords(text: string): string | null {
  const lower = text
    .toLowerCase()
    .replaceAll(/[.,\s]+/g, ' ')
    .trim()
    .replace(/^@/, '')
  const match = TIME.exec(lower)
  const time = match === null ? '0 0' : timeOf(match)
  if (time === null) return null
  const words = (match?.[1] ?? lower).replaceAll(/\b(?:runs?|every|each|on|once|the|an?|per)\b/g, ' ')
  const days = words.replaceAll(/\s+/g, ' ').trim()
  if (match !== null) return withDays(time, days)
  if (days === '') return null
  return Object.hasOwn(STEADY, days) ? STEADY[days]! : withDays(time, days)
}

function withDays(time: string, days: string): string | null {
  const fields = DAYS.find(([pattern]) => pattern.test(days))?.[1] ?? weekdaysOf(days)
  return fields === null ? null : `${time} ${fields}`
}

/** Minute and hour. A plain number is an hour only behind `at`. */
function timeOf([, , at, hour, minute, half, word]: RegExpExecArray): string | null {
  if (word !== undefined) return word === 'noon' ? '0 12' : '0 0'
  if (at === undefined && minute === undefined && half === undefined) return null
  const minutes = Number(minute ?? 0)
  const hours = hourOf(Number(hour), half)
  return minutes > 59 || hours === null ? null : `${minutes} ${hours}`
}

function hourOf(hour: number, half: string | undefined): number | null {
  if (half === undefined) return hour < 24 ? hour : null
  return hour >= 1 && hour <= 12 ? (hour % 12) + (half === 'pm' ? 12 : 0) : null
}

/** `* * 1,5` for `mondays and fridays`. */
function weekdaysOf(text: string): string | null {
  const found = text.split(/ (?:and )?/).map((word) => {
    const name = word.replace(/s$/, '')
    return name.length < 3 ? -1 : WEEKDAYS.findIndex((weekday) => weekday.startsWith(name))
  })
  return found.includes(-1) ? null : `* * ${found.join(',')}`
}
