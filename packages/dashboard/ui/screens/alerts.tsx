import { useState } from 'preact/hooks'
import { get, post } from '../core/api.ts'
import { serverNow } from '../core/clock.ts'
import { useLive } from '../core/live.ts'
import { useLoad, useThrottled } from '../core/load.ts'
import { scheduleLink } from '../core/router.ts'
import { authored, can } from '../core/session.ts'
import type { Items } from '../core/types.ts'
import { ActionDialog } from '../parts/dialog.tsx'
import { Card, Empty, Show, tell } from '../parts/feedback.tsx'
import { When } from '../parts/when.tsx'

interface Alert {
  readonly app: string
  readonly rule: string
  readonly severity: string
  readonly state: 'firing' | 'resolved' | 'muted'
  readonly firstAt: number
  readonly subjects: readonly { readonly name: string; readonly text: string }[]
  readonly count: number
}

const REFRESH_MS = 10_000
const HOUR_MS = 3_600_000
/** Rules whose subjects are not schedules. */
const OF_FLEET = ['no-runner', 'fleet', 'clock', 'store']
const TONES = { firing: 'is-failed', muted: 'is-skipped', resolved: 'is-succeeded' } as const

/** What the watchdog has found. */
export function AlertsScreen() {
  const loaded = useLoad<Items<Alert>>('alerts', (signal) => get('alerts', { all: 'true' }, signal))
  const refresh = useThrottled(REFRESH_MS, loaded.reload)
  useLive(refresh)
  return (
    <>
      <h1>Alerts</h1>
      <Show from={loaded}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No alert in the last 7 days" />
          ) : (
            items.map((alert) => (
              <AlertCard key={`${alert.app} ${alert.rule} ${alert.firstAt}`} alert={alert} reload={loaded.reload} />
            ))
          )
        }
      </Show>
    </>
  )
}

function AlertCard({ alert, reload }: { alert: Alert; reload: () => void }) {
  const { app, rule, severity, state, firstAt, subjects, count } = alert
  return (
    <Card title={`${rule} in ${app}`} aside={<span class={`badge dot ${TONES[state]}`}>{state}</span>}>
      <p class="muted">
        {severity}, since <When at={firstAt} /> (<When at={firstAt} relative />)
      </p>
      <ul class="lines">
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
  if (state === 'resolved' || !can('muteAlerts')) return null
  const unmute = (): void => {
    post('alerts/unmute', { subject: rule, app }).then(reload, (error: Error) => tell(error.message, true))
  }
  const mute = async (note: string): Promise<void> => {
    const until = serverNow() + Number(hours) * HOUR_MS
    await post('alerts/mute', { subject: rule, app, until, ...authored(note) })
    tell(`${rule} is muted.`)
    reload()
  }
  return (
    <div class="actions">
      <button type="button" onClick={state === 'muted' ? unmute : () => setOpen(true)}>
        {state === 'muted' ? 'Unmute' : 'Mute'}
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
