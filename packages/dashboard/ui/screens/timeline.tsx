import { useMemo } from 'preact/hooks'
import { ApiError, get } from '../core/api.ts'
import { now, serverNow } from '../core/clock.ts'
import { type Fault, faultsOf } from '../core/faults.ts'
import { DAY_MS } from '../core/format.ts'
import { type Grouping, layOut } from '../core/gantt.ts'
import { useLive } from '../core/live.ts'
import { useLoad, useThrottled } from '../core/load.ts'
import { place, setQuery } from '../core/router.ts'
import { can } from '../core/session.ts'
import type { Alert, Coming, Forecast, InstanceView, Items, Page, Run } from '../core/types.ts'
import { Card, Empty, ErrorBox, Show } from '../parts/feedback.tsx'
import { GanttView } from '../parts/gantt-view.tsx'
import { Legend } from '../parts/strip.tsx'
import { When } from '../parts/when.tsx'

const SPANS: Readonly<Record<string, number>> = {
  '5m': DAY_MS / 288,
  '15m': DAY_MS / 96,
  '1h': DAY_MS / 24,
  '6h': DAY_MS / 4,
  '1d': DAY_MS,
  '7d': 7 * DAY_MS,
}
/** How much of the picture is yet to come. */
const AHEAD = 0.2
const REFRESH_MS = 3_000
const RUNS = { limit: 1_000, pages: 5 } as const
const COMING = 500
const FAULTS_SHOWN = 50

interface Data {
  readonly from: number
  readonly to: number
  readonly runs: readonly Run[]
  readonly coming: readonly Coming[]
  readonly cut: boolean
  readonly faults: readonly Fault[]
  /** Why some faults may be missing. */
  readonly faultsError: ApiError | null
}

export function TimelineScreen() {
  const { query } = place.value
  const span = query.get('span') ?? '1h'
  const by: Grouping = query.get('by') === 'instance' ? 'instance' : 'schedule'
  const from = query.get('from')
  const loaded = useLoad<Data>(`${span} ${from}`, (signal) => read(SPANS[span] ?? DAY_MS / 24, from, signal))
  const refresh = useThrottled(REFRESH_MS, loaded.reload)
  useLive(refresh)
  return (
    <>
      <h1>Timeline</h1>
      <div class="filter">
        <fieldset class="choice">
          <legend class="hidden">Span</legend>
          {Object.keys(SPANS).map((one) => (
            <button type="button" key={one} aria-pressed={one === span} onClick={() => setQuery({ span: one })}>
              {one}
            </button>
          ))}
        </fieldset>
        <fieldset class="choice">
          <legend class="hidden">Rows</legend>
          {(['schedule', 'instance'] as const).map((one) => (
            <button type="button" key={one} aria-pressed={one === by} onClick={() => setQuery({ by: one })}>
              by {one}
            </button>
          ))}
        </fieldset>
        {from === null ? null : (
          <button type="button" onClick={() => setQuery({ from: undefined })}>
            Back to now
          </button>
        )}
        <Legend />
      </div>
      <Show from={loaded}>{(data) => <Picture data={data} by={by} />}</Show>
    </>
  )
}

function Picture({ data, by }: { data: Data; by: Grouping }) {
  const { from, to, runs, coming, cut, faults, faultsError } = data
  const gantt = useMemo(() => layOut(runs, coming, by, serverNow()), [runs, coming, by])
  if (gantt.bars.length === 0) {
    return (
      <Empty title="Nothing ran or is due in this stretch of time" command="npx cronce start jobs.ts">
        <p>Choose a longer stretch. If nothing runs at all, start an instance:</p>
      </Empty>
    )
  }
  return (
    <>
      {cut ? (
        <p class="notice">Only the latest {RUNS.limit * RUNS.pages} runs are shown. Choose a shorter stretch.</p>
      ) : null}
      <GanttView gantt={gantt} from={from} to={to} now={now.value} by={by} faults={faults} />
      {faultsError === null ? null : <ErrorBox error={faultsError} about="Instances or alerts, so some faults," />}
      <Faults faults={faults} />
    </>
  )
}

async function read(spanMs: number, given: string | null, signal: AbortSignal): Promise<Data> {
  const moment = serverNow()
  const from = given === null ? moment - spanMs * (1 - AHEAD) : Number(given)
  const to = from + spanMs
  const runs: Run[] = []
  let after: string | null = null
  for (let page = 0; page < RUNS.pages; page++) {
    const found: Page<Run> = await get(
      'runs',
      { from: Math.floor(from), to: Math.ceil(to), limit: RUNS.limit, after },
      signal,
    )
    runs.push(...found.items)
    after = found.next
    if (after === null) break
  }
  const start = Math.max(moment, from)
  const hasFuture = to - start > 1
  const query = { from: Math.floor(start), to: Math.ceil(to), limit: COMING }
  const ahead = hasFuture ? await get<Forecast>('forecast', query, signal) : { items: [] }
  const { faultsError, ...fleet } = await readFleet(signal)
  const faults = faultsOf({ runs, ...fleet }, from, to)
  return { from, to, runs, coming: ahead.items, cut: after !== null, faults, faultsError }
}

/** What the marks are made of. Where it cannot be read, the runs are shown without it. */
async function readFleet(signal: AbortSignal) {
  let faultsError: ApiError | null = null
  const none = (error: unknown): { items: [] } => {
    faultsError = error instanceof ApiError ? error : null
    return { items: [] }
  }
  const [instances, alerts] = await Promise.all([
    get<Items<InstanceView>>('instances', {}, signal).catch(none),
    can('listAlerts') ? get<Items<Alert>>('alerts', { all: 'true' }, signal).catch(none) : none(null),
  ])
  return { instances: instances.items, alerts: alerts.items, faultsError }
}

function Faults({ faults }: { faults: readonly Fault[] }) {
  if (faults.length === 0) return null
  return (
    <Card title="Faults">
      <ul class="lines faults" aria-label="Faults in this stretch">
        {faults
          .slice(-FAULTS_SHOWN)
          .toReversed()
          .map(({ at, kind, text }) => (
            <li key={`${at} ${kind} ${text}`}>
              <When at={at} />
              <strong class="error">{kind}</strong>
              <span>{text}</span>
            </li>
          ))}
      </ul>
      {faults.length > FAULTS_SHOWN ? <p class="muted">and {faults.length - FAULTS_SHOWN} earlier</p> : null}
    </Card>
  )
}
