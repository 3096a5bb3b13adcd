import { get, part, post } from '../core/api.ts'
import { serverNow } from '../core/clock.ts'
import { formatDuration } from '../core/format.ts'
import { useLive } from '../core/live.ts'
import { useLoad, useThrottled } from '../core/load.ts'
import { can } from '../core/session.ts'
import type { Deployments, InstanceView, Items, Page, Run } from '../core/types.ts'
import { Card, Empty, ErrorBox, Show, tell } from '../parts/feedback.tsx'
import { StateBadge } from '../parts/outcome.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { When } from '../parts/when.tsx'

const REFRESH_MS = 10_000
const OFFSET_MS = 100
const GONE = ['left', 'dead']
const HOUR_MS = 3_600_000
const RUNS_MOST = 1_000

export function FleetScreen() {
  const loaded = useLoad<Items<InstanceView>>('instances', (signal) => get('instances', {}, signal))
  const runs = useLoad<Page<Run>>('claims', (signal) =>
    get('runs', { from: Math.floor(serverNow()) - HOUR_MS, limit: RUNS_MOST }, signal),
  )
  const refresh = useThrottled(REFRESH_MS, () => {
    loaded.reload()
    runs.reload()
  })
  useLive(refresh)
  return (
    <>
      <h1>Fleet</h1>
      {runs.error === null ? null : <ErrorBox error={runs.error} about="The claims of the past hour" />}
      <Show from={loaded}>
        {({ items }) => <Instances items={items} claims={runs.data?.items ?? []} reload={loaded.reload} />}
      </Show>
    </>
  )
}

interface TableProps {
  readonly items: readonly InstanceView[]
  /** The latest runs. */
  readonly claims: readonly Run[]
  readonly reload: () => void
}

/** Which part of the latest runs it claimed. */
function shareOf({ id }: InstanceView, claims: readonly Run[]): number | null {
  const own = claims.filter(({ instance }) => instance === id).length
  return claims.length === 0 ? null : own / claims.length
}

function Instances({ items, claims, reload }: TableProps) {
  const there = items.filter(({ state }) => !GONE.includes(state))
  const gone = items.filter(({ state }) => GONE.includes(state))
  const apps = [...new Set(there.map(({ app }) => app))]
  return (
    <>
      {there.length === 0 ? (
        <Empty title="No instance is live, so nothing runs" command="npx cronce start jobs.ts" />
      ) : (
        <Card title={`Instances (${there.length})`}>
          <Table items={there} claims={claims} reload={reload} />
        </Card>
      )}
      {apps.map((app) => (
        <DeploymentCard key={app} app={app} />
      ))}
      {gone.length === 0 ? null : (
        <Card title={`Left or died within a day (${gone.length})`}>
          <Table items={gone} claims={claims} reload={reload} />
        </Card>
      )}
    </>
  )
}

const COLUMNS = ['Instance', 'State', 'App', 'Deployment', 'Running', 'Claims', 'Clock', 'Heartbeat', 'Version', '']

function Table({ items, claims, reload }: TableProps) {
  return (
    <Scroll>
      <table class="fleet">
        <thead>
          <tr>
            {COLUMNS.map((title) => (
              <th scope="col" key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((instance) => (
            <Row key={instance.id} instance={instance} share={shareOf(instance, claims)} reload={reload} />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

interface RowProps {
  readonly instance: InstanceView
  readonly share: number | null
  readonly reload: () => void
}

function Row({ instance, share, reload }: RowProps) {
  const { id, host, pid, state, drain, app, deployment, running, concurrency, clockOffsetMs, renewedAt, version } =
    instance
  const isOff = Math.abs(clockOffsetMs) > OFFSET_MS
  return (
    <tr>
      <td>
        <code>{id}</code>
        <div class="muted">
          {host}, process {pid}
        </div>
      </td>
      <td>
        <StateBadge state={drain && state === 'live' ? 'draining' : state} />
      </td>
      <td class="clip" title={app}>
        {app}
      </td>
      <td class="clip" title={deployment}>
        {deployment}
      </td>
      <td class="nowrap">
        {GONE.includes(state) ? (
          <span class="muted">–</span>
        ) : (
          <>
            <meter value={running} max={Math.max(1, concurrency)} aria-label={`${running} of ${concurrency} places`} />{' '}
            {running}/{concurrency}
          </>
        )}
      </td>
      <td class="nowrap" title="Of the latest runs of the past hour, 1,000 at most">
        {share === null ? (
          <span class="muted">–</span>
        ) : (
          <>
            <meter value={share} max={1} aria-label="Share of the claims of the past hour" /> {Math.round(share * 100)}{' '}
            %
          </>
        )}
      </td>
      <td class={isOff ? 'nowrap warn' : 'nowrap'}>
        {clockOffsetMs < 0 ? '−' : '+'}
        {formatDuration(clockOffsetMs)}
      </td>
      <td class="nowrap">
        <When at={renewedAt} relative />
      </td>
      <td>{version}</td>
      <td>
        <DrainButton instance={instance} reload={reload} />
      </td>
    </tr>
  )
}

function DrainButton({ instance: { id, drain, state }, reload }: { instance: InstanceView; reload: () => void }) {
  const verb = drain ? 'undrain' : 'drain'
  if (GONE.includes(state) || !can(`${verb}Instance`)) return null
  const act = (): void => {
    post(`instances/${part(id)}/${verb}`, {}).then(
      () => {
        tell(drain ? `${id} takes fires again.` : `${id} takes nothing new; its runs may finish.`)
        reload()
      },
      (error: Error) => tell(error.message, true),
    )
  }
  return (
    <button type="button" data-action={verb} onClick={act}>
      {drain ? 'Undrain' : 'Drain'}
    </button>
  )
}

function DeploymentCard({ app }: { app: string }) {
  const loaded = useLoad<Deployments>(app, (signal) => get(`apps/${part(app)}/deployments`, {}, signal))
  return (
    <Card title={`Deployments of ${app}`}>
      <Show from={loaded}>
        {({ deployments, active }) => (
          <Scroll>
            <table>
              <thead>
                <tr>
                  <th scope="col">Deployment</th>
                  <th scope="col">Declarations</th>
                  <th scope="col">Ready</th>
                  <th scope="col">State</th>
                </tr>
              </thead>
              <tbody>
                {deployments.toReversed().map(({ id, declares, readyAt, goneAt }) => (
                  <tr key={id}>
                    <td>
                      <code>{id}</code>
                    </td>
                    <td>{declares.length}</td>
                    <td>
                      <When at={readyAt} relative />
                    </td>
                    <td>{id === active ? 'active: its declarations count' : goneAt === null ? 'running' : 'gone'}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </Show>
    </Card>
  )
}
