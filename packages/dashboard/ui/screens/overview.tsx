import { get } from '../core/api.ts'
import { formatCount, formatDuration } from '../core/format.ts'
import { useLive } from '../core/live.ts'
import { useLoad, useThrottled } from '../core/load.ts'
import { link, scheduleLink } from '../core/router.ts'
import { can } from '../core/session.ts'
import type { Alert, Items, Overview } from '../core/types.ts'
import { Card, Empty, ErrorBox, Show } from '../parts/feedback.tsx'
import { Slots } from '../parts/slots.tsx'
import { Legend } from '../parts/strip.tsx'
import { Next } from '../parts/when.tsx'

const REFRESH_MS = 5_000

export function OverviewScreen() {
  const loaded = useLoad<Overview>('overview', (signal) => get('overview', {}, signal))
  const refresh = useThrottled(REFRESH_MS, loaded.reload)
  useLive(refresh)
  return (
    <>
      <h1>Overview</h1>
      <Show from={loaded}>{(overview) => <Figures overview={overview} />}</Show>
    </>
  )
}

function Figures({ overview }: { overview: Overview }) {
  const { schedules, fires, runs, slots } = overview
  const total = schedules.active + schedules.paused + schedules.retired + schedules.finished
  if (total === 0) return <NoSchedules />
  const count =
    fires.open + fires.succeeded + fires.failed + fires.skipped + fires.missed + fires.abandoned + fires.cancelled
  const since = String(overview.from)
  return (
    <>
      <div class="figures">
        <Figure
          title="Fires in 24 h"
          value={`${formatCount(count)}${fires.cut ? '+' : ''}`}
          to={link(['fires'], { from: since })}
        />
        <Figure
          title="Failed"
          value={formatCount(fires.failed)}
          tone={fires.failed > 0 ? 'failed' : ''}
          to={link(['fires'], { outcome: 'failed', from: since })}
        />
        {fires.abandoned === 0 ? null : (
          <Figure
            title="Abandoned"
            value={formatCount(fires.abandoned)}
            tone="abandoned"
            to={link(['fires'], { outcome: 'abandoned', from: since })}
          />
        )}
        <Figure
          title="Missed"
          value={formatCount(fires.missed)}
          tone={fires.missed > 0 ? 'missed' : ''}
          to={link(['fires'], { outcome: 'missed', from: since })}
        />
        <Figure
          title="Late, 95th percentile"
          value={runs.latenessP95Ms === null ? '–' : formatDuration(runs.latenessP95Ms)}
          to={link(['fires'], { late: String(Math.max(1, Math.round(runs.latenessP95Ms ?? 0))), from: since })}
        />
      </div>
      <Card title="The last 24 hours" aside={<Legend />}>
        <Slots slots={slots} />
        {fires.cut ? <p class="muted">Only the latest 5,000 fires are counted.</p> : null}
      </Card>
      <div class="columns">
        <Attention overview={overview} />
        <NextFires overview={overview} />
        <Health overview={overview} />
      </div>
    </>
  )
}

function Figure({ title, value, to, tone = '' }: { title: string; value: string; to: string; tone?: string }) {
  return (
    <a class={`figure ${tone === '' ? '' : `is-${tone}`}`} href={to}>
      <span class="value">{value}</span>
      <span class="title">{title}</span>
    </a>
  )
}

function NoSchedules() {
  return (
    <Empty title="No schedules yet" command="npx cronce init && npx cronce dev">
      <p>Nothing is declared in this store. Declare a job in your code, or write an example:</p>
    </Empty>
  )
}

function placeOf({ kind, about }: Overview['attention'][number]): string {
  return ['instance-silent', 'clock', 'deployments'].includes(kind) ? link(['fleet']) : scheduleLink(about)
}

/** What the watchdog has found, and what the records show without it. */
function Attention({ overview: { attention } }: { overview: Overview }) {
  const alerts = useLoad<Items<Alert>>('alerts', async (signal) =>
    can('listAlerts') ? get('alerts', {}, signal) : { items: [] },
  )
  useLive(useThrottled(REFRESH_MS, alerts.reload))
  const firing = (alerts.data?.items ?? []).filter(({ state }) => state === 'firing')
  return (
    <Card title="Needs attention">
      {alerts.error === null ? null : <ErrorBox error={alerts.error} about="Alerts" />}
      {firing.length === 0 ? null : (
        <ul class="lines">
          {firing.map(({ app, rule, severity, subjects, count }) => (
            <li key={`${app} ${rule}`}>
              <a href={link(['alerts'])}>
                {severity === 'critical' ? 'Critical alert' : 'Alert'}: {rule}
              </a>
              <span>
                {subjects[0]?.name} {subjects[0]?.text}
                {count > 1 ? `, and ${count - 1} more` : ''}
              </span>
            </li>
          ))}
        </ul>
      )}
      {attention.length === 0 && firing.length === 0 && alerts.error === null ? (
        <p class="calm">Nothing does.</p>
      ) : (
        <ul class="lines">
          {attention.map((one) => (
            <li key={`${one.kind} ${one.about}`}>
              <a href={placeOf(one)}>{one.about}</a>
              <span>{one.message}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function NextFires({ overview: { next } }: { overview: Overview }) {
  return (
    <Card title="Next fires">
      {next.length === 0 ? <p class="muted">Nothing is due in the time to come.</p> : null}
      <ul class="lines">
        {next.map(({ schedule, dueAt }) => (
          <li key={`${schedule} ${dueAt}`}>
            <a href={scheduleLink(schedule)}>{schedule}</a>
            <Next at={dueAt} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Health({ overview: { store, instances, schedules } }: { overview: Overview }) {
  return (
    <Card title="Health">
      <dl class="facts">
        <dt>Store</dt>
        <dd>
          {store.name}, answers in {formatDuration(store.latencyMs)}
        </dd>
        <dt>Instances</dt>
        <dd>
          <a href={link(['fleet'])}>
            {instances.live} live{instances.draining > 0 ? `, ${instances.draining} draining` : ''}
            {instances.silent > 0 ? `, ${instances.silent} silent` : ''}
          </a>
        </dd>
        <dt>Running now</dt>
        <dd>{instances.running}</dd>
        <dt>Schedules</dt>
        <dd>
          {schedules.active} active
          {schedules.paused > 0 ? (
            <>
              , <a href={link(['schedules'], { q: 'state:paused' })}>{schedules.paused} paused</a>
            </>
          ) : null}
        </dd>
      </dl>
      {instances.live === 0 ? (
        <p class="warn">No instance is live, so nothing runs. Start one: npx cronce start</p>
      ) : null}
    </Card>
  )
}
