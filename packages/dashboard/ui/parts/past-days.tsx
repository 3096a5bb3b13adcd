import { get } from '../core/api.ts'
import { serverNow } from '../core/clock.ts'
import { counted, DAY_MS, formatWall, offsetAt } from '../core/format.ts'
import { useLoad } from '../core/load.ts'
import { shownZone } from '../core/preferences.ts'
import { link } from '../core/router.ts'
import type { HourCount, Items, Outcome } from '../core/types.ts'
import { Card, Show } from './feedback.tsx'
import { OutcomeMark } from './outcome.tsx'
import { Scroll } from './scroll.tsx'

const DAYS = 90
const HOUR_MS = DAY_MS / 24
/** The first that occurred on a day is its color. */
const FROM_BAD_TO_GOOD: readonly Outcome[] = ['failed', 'abandoned', 'missed', 'cancelled', 'skipped', 'succeeded']
const BAD: readonly Outcome[] = ['failed', 'abandoned', 'missed']

interface Day {
  readonly date: string
  /** Of its first and after its last hour that was counted. */
  from: number
  to: number
  readonly counts: Map<Outcome, number>
  isChanged: boolean
}

/** How the fires of the past 90 days ended, a cell for each day: weeks from left to right. */
export function PastDays() {
  const loaded = useLoad<Items<HourCount>>('counts', (signal) => {
    const to = Math.ceil(serverNow() / HOUR_MS) * HOUR_MS
    return get('counts', { from: to - DAYS * DAY_MS, to }, signal)
  })
  return (
    <Card title="The past 90 days">
      <Show from={loaded}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="muted">No fire has ended in the past 90 days.</p>
          ) : (
            <>
              <Days items={items} />
              <p class="muted">
                A column for each week, Monday at the top. A day has the color of its worst outcome; its number counts
                the fires that failed, were abandoned or were missed. A frame marks a day on which the clock changes.
              </p>
            </>
          )
        }
      </Show>
    </Card>
  )
}

function daysOf(items: readonly HourCount[], zone: string): readonly Day[] {
  const end = Math.ceil(serverNow() / HOUR_MS) * HOUR_MS
  const days = new Map<string, Day>()
  for (let at = end - DAYS * DAY_MS; at < end; at += HOUR_MS) {
    const date = formatWall(at, zone).slice(0, 10)
    const day = days.get(date) ?? { date, from: at, to: at, counts: new Map(), isChanged: false }
    days.set(date, day)
    day.to = at + HOUR_MS
    day.isChanged ||= offsetAt(at, zone) !== offsetAt(at + HOUR_MS, zone)
  }
  for (const { hour, outcome, count } of items) {
    const counts = days.get(formatWall(hour, zone).slice(0, 10))?.counts
    counts?.set(outcome, (counts.get(outcome) ?? 0) + count)
  }
  return [...days.values()]
}

function Days({ items }: { items: readonly HourCount[] }) {
  const zone = shownZone(undefined)
  const days = daysOf(items, zone)
  // Monday first.
  const offset = (new Date(`${days[0]!.date}T00:00Z`).getUTCDay() + 6) % 7
  return (
    <Scroll fromEnd>
      <div class="weeks">
        <div class="months" aria-hidden="true">
          {monthsOf(days, offset).map(({ name, column }) => (
            <span key={column} style={{ gridColumnStart: String(column) }}>
              {name}
            </span>
          ))}
        </div>
        <ol class="days" aria-label="Days, the earliest first">
          {days.map((day, index) => (
            <DayCell key={day.date} day={day} start={index === 0 ? offset + 1 : null} zone={zone} />
          ))}
        </ol>
      </div>
    </Scroll>
  )
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The week in which each month begins. */
function monthsOf(days: readonly Day[], offset: number): readonly { readonly name: string; readonly column: number }[] {
  return days.flatMap(({ date }, index) =>
    date.endsWith('-01') || index === 0
      ? [{ name: MONTHS[Number(date.slice(5, 7)) - 1]!, column: Math.floor((index + offset) / 7) + 1 }]
      : [],
  )
}

function DayCell({ day, start, zone }: { day: Day; start: number | null; zone: string }) {
  const { date, from, to, counts, isChanged } = day
  const worst = FROM_BAD_TO_GOOD.find((outcome) => counts.has(outcome))
  const bad = BAD.reduce((sum, outcome) => sum + (counts.get(outcome) ?? 0), 0)
  const parts = [...counts].map(([outcome, count]) => `${count} ${outcome}`)
  const change = isChanged ? `; the clock of ${zone} changes` : ''
  const words = `${date}: ${parts.length === 0 ? counted(0, 'fire') : parts.join(', ')}${change}`
  return (
    <li style={start === null ? {} : { gridRowStart: String(start) }}>
      <a
        class={`day ${worst === undefined ? 'is-empty' : `is-${worst}`} ${isChanged ? 'is-changed' : ''}`}
        href={link(['fires'], { from: String(from), to: String(to) })}
        title={words}
        aria-label={words}
      >
        {bad > 0 ? <span>{bad > 999 ? '999+' : bad}</span> : worst === undefined ? null : <OutcomeMark state={worst} />}
      </a>
    </li>
  )
}
