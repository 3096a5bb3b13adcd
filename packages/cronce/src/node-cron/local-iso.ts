const formats = new Map<string, Intl.DateTimeFormat>()

/** The time that clocks of the zone show, with its offset: `2026-06-17T05:00:00.000+02:00`, or `Z` where there is none. */
export function localIso(date: Date, timezone: string): string {
  const parts = new Map(
    formatOf(timezone)
      .formatToParts(date)
      .map(({ type, value }) => [type, value]),
  )
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? ''
  const [, sign = '', hours = '00', minutes = '00'] = /([+-])(\d\d):(\d\d)/.exec(part('timeZoneName')) ?? []
  const offset = hours === '00' && minutes === '00' ? 'Z' : `${sign}${hours}:${minutes}`
  const day = `${part('year')}-${part('month')}-${part('day')}`
  const time = `${part('hour')}:${part('minute')}:${part('second')}`
  return `${day}T${time}.${String(date.getUTCMilliseconds()).padStart(3, '0')}${offset}`
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone)
  if (known !== undefined) return known
  const two = '2-digit'
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: timezone, hourCycle: 'h23', timeZoneName: 'longOffset' },
    ...{ year: 'numeric', month: two, day: two, hour: two, minute: two, second: two },
  })
  formats.set(timezone, format)
  return format
}
