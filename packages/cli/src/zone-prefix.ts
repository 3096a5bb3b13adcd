export interface ZonePrefix {
  /** `TZ=` or `CRON_TZ=`. */
  readonly written: string
  readonly tz: string
}

/** The zone that an expression names for itself: `CRON_TZ=Europe/London 0 9 * * *`. */
export function zonePrefixOf(expression: string): ZonePrefix | undefined {
  const match = /^[ \t]*((?:CRON_)?TZ=)([^ \t]+)/.exec(expression)
  return match === null ? undefined : { written: match[1]!, tz: match[2]! }
}
