import { useState } from 'preact/hooks'
import { get, post } from '../core/api.ts'
import { serverNow } from '../core/clock.ts'
import { useLive } from '../core/live.ts'
import { useLoad, useThrottled } from '../core/load.ts'
import { scheduleLink } from '../core/router.ts'
import { authored, can } from '../core/session.ts'
import type { Alert, Items } from '../core/types.ts'
import { ActionDialog } from '../parts/dialog.tsx'
import { Card, Empty, Show, tell } from '../parts/feedback.tsx'
import { When } from '../parts/when.tsx'

interface Mute {
  readonly app: string
  readonly subject: string
  readonly untilAt: number | null
  readonly note: string | null
  readonly author: string | null
}

const REFRESH_MS = 10_000
const HOUR_MS = 3_600_000
/** Rules whose subjects are not schedules. */
const OF_FLEET = ['no-runner', 'fleet', 'clock', 'store']
const TONES = { firing: 'is-failed', muted: 'is-skipped', resolved: 'is-succeeded' } as const

/** What the watchdog has found. */
export function AlertsScreen() {
  const loaded = useLoad<Items<Alert>>('alerts', (signal) => get('alerts', { all: 'true' }, signal))
  const mutes = useLoad<Items<Mute>>('mutes', (signal) => get('alerts/mutes', {}, signal))
  const reload = (): void => {
    loaded.reload()
    mutes.reload()
  }
  const refresh = useThrottled(REFRESH_MS, reload)
  useLive(refresh)
  return (
    <>
      <h1>Alerts</h1>
      <Show from={loaded}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No alert in the last 7 days" command="npx cronce doctor">
              <p>
                Where the option alerts or watch is set, the fleet watches itself and reports here. This command checks
                once:
              </p>
            </Empty>
          ) : (
            items.map((alert) => (
              <AlertCard key={`${alert.app} ${alert.rule} ${alert.firstAt}`} alert={alert} reload={reload} />
            ))
          )
        }
      </Show>
      <Mutes items={mutes.data?.items ?? []} reload={reload} />
    </>
  )
}

/** Also what is muted while nothing is wrong with it: it would stay silent. */
function Mutes({ items, reload }: { items: readonly Mute[]; reload: () => void }) {
  if (items.length === 0) return null
  return (
    <Card title={`Muted (${items.length})`}>
      <ul class="lines">
        {items.map(({ app, subject, untilAt, note, author }) => (
          <li key={`${app} ${subject}`}>
            <span>
              <strong>{subject}</strong> in {app}{' '}
              {untilAt === null ? (
                'until it is unmuted'
              ) : (
                <>
                  until <When at={untilAt} />
                </>
              )}
            </span>
            <span class="muted">{[author, note].filter((one) => one !== null).join(': ')}</span>
            <UnmuteButton subject={subject} app={app} reload={reload} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function UnmuteButton({ subject, app, reload }: { subject: string; app: string; reload: () => void }) {
  if (!can('unmuteAlerts')) return null
  const unmute = (): void => {
    post('alerts/unmute', { subject, app, ...authored('') }).then(
      () => {
        tell(`${subject} is not muted any more.`)
        reload()
      },
      (error: Error) => tell(error.message, true),
    )
  }
  return (
    <button type="button" data-unmute={subject} onClick={unmute}>
      Unmute
    </button>
  )
}

function AlertCard({ alert, reload }: { alert: Alert; reload: () => void }) {
  const { app, rule, severity, state, firstAt, subjects, count } = alert
  return (
    <Card title={`${rule} in ${app}`} aside={<span class={`badge dot ${TONES[state]}`}>{state}</span>}>
      <p class="muted">
        {severity}, since <When at={firstAt} /> (<When at={firstAt} relative />)
      </p>
      <ul class="lines near">
        {subjects.map(({ name, text }) => (
          <li key={name}>
            {OF_FLEET.includes(rule) ? <strong>{name}</strong> : <a href={scheduleLink(name)}>{name}</a>}
            <span>{text}</span>
          </li>
        ))}
      </ul>
      {count > subjects.length ? <p class="muted">and {count - subjects.length} more</p> : null}
      <MuteButtons alert={alert} reload={reload} />
    </Card>
  )
}

/** Mutes the rule: nothing is sent about it for a while. What is wrong stays on this screen. */
function MuteButtons({ alert: { rule, state, app }, reload }: { alert: Alert; reload: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const [hours, setHours] = useState('1')
  if (state !== 'firing' || !can('muteAlerts')) return null
  const mute = async (note: string): Promise<void> => {
    const until = serverNow() + Number(hours) * HOUR_MS
    await post('alerts/mute', { subject: rule, app, until, ...authored(note) })
    tell(`${rule} is muted.`)
    reload()
  }
  return (
    <div class="actions">
      <button type="button" data-mute={rule} onClick={() => setOpen(true)}>
        Mute
      </button>
      {isOpen ? (
        <ActionDialog title={`Mute ${rule}`} verb="Mute" act={mute} onClose={() => setOpen(false)}>
          <label>
            For how many hours
            <input
              type="number"
              name="hours"
              min={1}
              max={720}
              value={hours}
              onInput={(event) => setHours(event.currentTarget.value)}
            />
          </label>
        </ActionDialog>
      ) : null}
    </div>
  )
}
