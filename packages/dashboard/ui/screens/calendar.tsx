import { get } from '../core/api.ts'
import { now } from '../core/clock.ts'
import { counted, DAY_MS, formatWall, offsetAt } from '../core/format.ts'
import { useLoad } from '../core/load.ts'
import { shownZone } from '../core/preferences.ts'
import { link, scheduleLink } from '../core/router.ts'
import { can } from '../core/session.ts'
import type { CalendarData } from '../core/types.ts'
import { Card, Show } from '../parts/feedback.tsx'
import { PastDays } from '../parts/past-days.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { When } from '../parts/when.tsx'

const HOURS = Array.from({ length: 24 }, (_, hour) => hour)
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const LEVELS = 5
/** Below this many, starting together does no harm. */
const CROWD = 3
const SPREAD_MS_EACH = 2_000

export function CalendarScreen() {
  const loaded = useLoad<CalendarData>('calendar', (signal) => get('calendar', {}, signal))
  return (
    <>
      <h1>Calendar</h1>
      {can('countFires') ? <PastDays /> : null}
      <Show from={loaded}>
        {(data) => (
          <>
            <Card title="Fires to come, by hour">
              {data.hours.length === 0 ? (
                <p class="muted">Nothing is due in the next 14 days.</p>
              ) : (
                <Grid data={data} />
              )}
              {data.cut ? (
                <p class="notice">Not all due times were computed: there are too many. The counts are too low.</p>
              ) : null}
            </Card>
            <Crowds data={data} />
          </>
        )}
      </Show>
    </>
  )
}

interface Day {
  readonly date: string
  readonly counts: Map<number, { at: number; count: number }>
  /** The clock is changed on this day. */
  readonly isChanged: boolean
}

/** Hours on the wall clock of the zone that the user chose. */
function daysOf({ from, to, hours }: CalendarData, zone: string): readonly Day[] {
  const days = new Map<string, Day>()
  for (let at = from; at < to; at += DAY_MS / 24) {
    const date = formatWall(at, zone).slice(0, 10)
    if (days.has(date)) continue
    days.set(date, { date, counts: new Map(), isChanged: offsetAt(at, zone) !== offsetAt(at + DAY_MS, zone) })
  }
  for (const { at, count } of hours) {
    const wall = formatWall(at, zone)
    const counts = days.get(wall.slice(0, 10))?.counts
    const hour = Number(wall.slice(11, 13))
    counts?.set(hour, { at, count: count + (counts.get(hour)?.count ?? 0) })
  }
  return [...days.values()]
}

/** `Mon`. */
function dayName(date: string): string {
  return WEEKDAYS[new Date(`${date}T00:00Z`).getUTCDay()]!
}

function Grid({ data }: { data: CalendarData }) {
  const zone = shownZone(undefined)
  const days = daysOf(data, zone)
  const counts = data.hours.map(({ count }) => count)
  const scale = { least: Math.min(...counts), most: Math.max(...counts) }
  return (
    <Scroll>
      <table class="calendar">
        <thead>
          <tr>
            <th scope="col">{zone}</th>
            {HOURS.map((hour) => (
              <th scope="col" key={hour}>
                {hour}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map(({ date, counts: hours, isChanged }) => (
            <tr key={date}>
              <th scope="row">
                {dayName(date)} {date.slice(5)}
                {isChanged ? (
                  <abbr class="dst" title={`The clock of ${zone} changes`}>
                    clock change
                  </abbr>
                ) : null}
              </th>
              {HOURS.map((hour) => (
                <Cell key={hour} cell={hours.get(hour)} scale={scale} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

interface CellProps {
  readonly cell: { readonly at: number; readonly count: number } | undefined
  readonly scale: { readonly least: number; readonly most: number }
}

function Cell({ cell, scale: { least, most } }: CellProps) {
  if (cell === undefined) return <td class="load" />
  const level = 1 + Math.round(((cell.count - least) / Math.max(1, most - least)) * (LEVELS - 1))
  const isNow = cell.at <= now.value && now.value < cell.at + DAY_MS / 24
  return (
    <td class={`load level-${level} ${isNow ? 'is-now' : ''}`} title={counted(cell.count, 'fire')}>
      <a href={link(['timeline'], { from: String(cell.at), span: '1h' })}>{cell.count}</a>
    </td>
  )
}

function Crowds({ data: { crowds } }: { data: CalendarData }) {
  const large = crowds.filter(({ count }) => count >= CROWD)
  if (large.length === 0) return null
  return (
    <Card title="Start together">
      <ul class="lines">
        {large.map(({ dueAt, count, schedules }) => (
          <li key={dueAt}>
            <span>
              <strong>{count}</strong> at <When at={dueAt} />: spread them with{' '}
              <code>jitter: '{Math.ceil((count * SPREAD_MS_EACH) / 1_000)}s'</code>
            </span>
            <span class="muted">
              {schedules.map((name) => (
                <a key={name} href={scheduleLink(name)}>
                  {name}{' '}
                </a>
              ))}
              {count > schedules.length ? `and ${count - schedules.length} more` : ''}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
