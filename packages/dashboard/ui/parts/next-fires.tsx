import { get, part } from '../core/api.ts'
import { now } from '../core/clock.ts'
import { DAY_MS, formatOffset, formatWall, offsetAt, zoneOf } from '../core/format.ts'
import { useLoad } from '../core/load.ts'
import { ownZone } from '../core/preferences.ts'
import type { ScheduleView } from '../core/types.ts'
import { Card, Show } from './feedback.tsx'
import { Scroll } from './scroll.tsx'
import { When } from './when.tsx'

const COUNT = 20

/** The next fires in three zones. A due time after a clock change is marked. */
export function NextFires({ schedule }: { schedule: ScheduleView }) {
  const { name, nextAt, revision, pause } = schedule
  const key = `${name} ${nextAt} ${revision} ${pause?.at ?? 0}`
  const loaded = useLoad<{ items: readonly number[] }>(key, (signal) =>
    get(`schedules/${part(name)}/next`, { count: COUNT }, signal),
  )
  const zones = [...new Set([zoneOf(schedule), ownZone, 'UTC'])]
  return (
    <Card title="Next fires">
      <Show from={loaded}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="muted">
              {pause === null ? 'It is not due again by itself.' : 'Nothing is due while it is paused.'}
            </p>
          ) : (
            <Scroll short>
              <table>
                <thead>
                  <tr>
                    <th scope="col">In</th>
                    {zones.map((zone) => (
                      <th scope="col" key={zone}>
                        {zone}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {items.map((at, index) => (
                    <tr key={at}>
                      <td>
                        <When at={at} relative />
                      </td>
                      {zones.map((zone) => (
                        <td key={zone} class="nowrap">
                          {formatWall(at, zone)}
                          <ClockChange at={at} before={items[index - 1] ?? now.value} zone={zone} />
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )
        }
      </Show>
    </Card>
  )
}

/** The zone has another offset than at the fire before: the clock was changed in between. */
function ClockChange({ at, before, zone }: { at: number; before: number; zone: string }) {
  if (offsetAt(at, zone) === offsetAt(before, zone)) return null
  const words = `The clock of ${zone} changes from ${formatOffset(before, zone)} to ${formatOffset(at, zone)} between ${formatWall(before, zone)} and this fire`
  return (
    <abbr class="dst" title={words} aria-label={words}>
      {at - before < 2 * DAY_MS ? 'clock change' : `now ${formatOffset(at, zone)}`}
    </abbr>
  )
}
