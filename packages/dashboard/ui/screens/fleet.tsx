import { get, part, post } from '../core/api.ts'
import { formatDuration } from '../core/format.ts'
import { useLive } from '../core/live.ts'
import { useLoad, useThrottled } from '../core/load.ts'
import { can } from '../core/session.ts'
import type { Deployments, InstanceView, Items } from '../core/types.ts'
import { Card, Empty, Show, tell } from '../parts/feedback.tsx'
import { StateBadge } from '../parts/outcome.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { When } from '../parts/when.tsx'

const REFRESH_MS = 10_000
const OFFSET_MS = 100
const GONE = ['left', 'dead']

export function FleetScreen() {
  const loaded = useLoad<Items<InstanceView>>('instances', (signal) => get('instances', {}, signal))
  const refresh = useThrottled(REFRESH_MS, loaded.reload)
  useLive(refresh)
  return (
    <>
      <h1>Fleet</h1>
      <Show from={loaded}>{({ items }) => <Instances items={items} reload={loaded.reload} />}</Show>
    </>
  )
}

function Instances({ items, reload }: { items: readonly InstanceView[]; reload: () => void }) {
  const there = items.filter(({ state }) => !GONE.includes(state))
  const gone = items.filter(({ state }) => GONE.includes(state))
  const apps = [...new Set(there.map(({ app }) => app))]
  return (
    <>
      {there.length === 0 ? (
        <Empty title="No instance is live, so nothing runs" command="npx cronce start jobs.ts" />
      ) : (
        <Card title={`Instances (${there.length})`}>
          <Table items={there} reload={reload} />
        </Card>
      )}
      {apps.map((app) => (
        <DeploymentCard key={app} app={app} />
      ))}
      {gone.length === 0 ? null : (
        <Card title={`Left or died within a day (${gone.length})`}>
          <Table items={gone} reload={reload} />
        </Card>
      )}
    </>
  )
}

const COLUMNS = ['Instance', 'State', 'App', 'Deployment', 'Runs', 'Clock', 'Seen', 'Version', '']

function Table({ items, reload }: { items: readonly InstanceView[]; reload: () => void }) {
  return (
    <Scroll>
      <table>
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
            <Row key={instance.id} instance={instance} reload={reload} />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function Row({ instance, reload }: { instance: InstanceView; reload: () => void }) {
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
      <td>{app}</td>
      <td class="clip">{deployment}</td>
      <td>
        <meter value={running} max={Math.max(1, concurrency)} aria-label={`${running} of ${concurrency} places`} />{' '}
        {running}/{concurrency}
      </td>
      <td class={isOff ? 'warn' : ''}>
        {clockOffsetMs < 0 ? '−' : '+'}
        {formatDuration(clockOffsetMs)}
      </td>
      <td>
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
                {deployments.map(({ id, declares, readyAt, goneAt }) => (
                  <tr key={id}>
                    <td>
                      <code>{id}</code>
                    </td>
                    <td>{declares.length}</td>
                    <td>
                      <When at={readyAt} relative />
                    </td>
                    <td>{id === active ? 'its declarations count' : goneAt === null ? 'running' : 'gone'}</td>
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
