import { get } from '../core/api.ts'
import { useLoad } from '../core/load.ts'
import { scheduleLink } from '../core/router.ts'
import type { Items } from '../core/types.ts'
import { Card, Empty, Show } from '../parts/feedback.tsx'
import { When } from '../parts/when.tsx'

interface Alert {
  readonly rule: string
  readonly severity: string
  readonly state: 'firing' | 'resolved' | 'muted'
  readonly firstAt: number
  readonly lastAt: number
  readonly subjects: readonly { readonly name: string; readonly text: string }[]
  readonly count: number
}

/** What the watchdog has found. */
export function AlertsScreen() {
  const loaded = useLoad<Items<Alert>>('alerts', (signal) => get('alerts', {}, signal))
  return (
    <>
      <h1>Alerts</h1>
      <Show from={loaded}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No alert is firing" />
          ) : (
            items.map((alert) => <AlertCard key={`${alert.rule} ${alert.firstAt}`} alert={alert} />)
          )
        }
      </Show>
    </>
  )
}

const TONES = { firing: 'is-failed', muted: 'is-skipped', resolved: 'is-succeeded' } as const

function AlertCard({ alert: { rule, severity, state, firstAt, subjects, count } }: { alert: Alert }) {
  return (
    <Card title={rule} aside={<span class={`badge dot ${TONES[state]}`}>{state}</span>}>
      <p class="muted">
        {severity}, since <When at={firstAt} /> (<When at={firstAt} relative />)
      </p>
      <ul class="lines">
        {subjects.map(({ name, text }) => (
          <li key={name}>
            <a href={scheduleLink(name)}>{name}</a>
            <span>{text}</span>
          </li>
        ))}
      </ul>
      {count > subjects.length ? <p class="muted">and {count - subjects.length} more</p> : null}
    </Card>
  )
}
