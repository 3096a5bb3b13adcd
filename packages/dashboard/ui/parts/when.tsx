import { now } from '../core/clock.ts'
import { formatOffset, formatRelative, formatWall } from '../core/format.ts'
import { shownZone } from '../core/preferences.ts'

interface WhenProps {
  readonly at: number | null
  /** The zone of the schedule that it belongs to. */
  readonly tz?: string | undefined
  /** What comes first; the other is shown on hover. */
  readonly relative?: boolean
  readonly none?: string
}

/** A moment: relative and absolute, in the zone that the user chose. */
export function When({ at, tz, relative = false, none = '–' }: WhenProps) {
  if (at === null) return <span class="muted">{none}</span>
  const zone = shownZone(tz)
  const absolute = formatWall(at, zone)
  const full = `${absolute} ${zone} (${formatOffset(at, zone)})`
  const since = formatRelative(at, now.value)
  return (
    <time class="when" dateTime={new Date(at).toISOString()} title={relative ? full : `${since} · ${full}`}>
      {relative ? since : absolute}
    </time>
  )
}

/** A due time that has passed is not hidden behind a countdown at zero. */
export function Next({ at, tz }: Pick<WhenProps, 'at' | 'tz'>) {
  const isDue = at !== null && at <= now.value
  return (
    <span>
      {isDue ? 'due ' : null}
      <When at={at} tz={tz} relative none="none" />
    </span>
  )
}
