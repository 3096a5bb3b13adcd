import { get, type Query } from '../core/api.ts'
import { formatDuration } from '../core/format.ts'
import { useLoad } from '../core/load.ts'
import { fireLink, link, scheduleLink } from '../core/router.ts'
import type { Page, Run } from '../core/types.ts'
import { Empty, Show } from './feedback.tsx'
import { OutcomeBadge } from './outcome.tsx'
import { Scroll } from './scroll.tsx'
import { When } from './when.tsx'

/** As many runs as the figure of the overview is made of. */
const READ = { limit: 200, pages: 5 } as const
const SHOWN = 100

interface Found {
  readonly items: readonly Run[]
  readonly isCut: boolean
}

/** Runs that started late, the latest due first. */
export function LateRuns({ query }: { query: Query }) {
  const loaded = useLoad<Found>(JSON.stringify(query), (signal) => readLate(query, signal))
  return (
    <Show from={loaded}>
      {({ items, isCut }) => (
        <>
          {items.length === 0 ? <Empty title="No run was as late as that" /> : <Rows items={items} />}
          {isCut ? <p class="muted">Only the latest of them are shown.</p> : null}
        </>
      )}
    </Show>
  )
}

async function readLate(query: Query, signal: AbortSignal): Promise<Found> {
  const items: Run[] = []
  let after: string | null = null
  for (let page = 0; page < READ.pages && items.length <= SHOWN; page++) {
    const found: Page<Run> = await get('runs', { ...query, limit: READ.limit, after }, signal)
    items.push(...found.items)
    after = found.next
    if (after === null) break
  }
  return { items: items.slice(0, SHOWN), isCut: after !== null || items.length > SHOWN }
}

function Rows({ items }: { items: readonly Run[] }) {
  return (
    <Scroll>
      <table>
        <thead>
          <tr>
            {['Schedule', 'Due', 'Late by', 'Outcome', 'Attempt', 'Instance'].map((title) => (
              <th scope="col" key={title} class={title === 'Late by' || title === 'Attempt' ? 'number' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((run) => (
            <tr key={`${run.schedule} ${run.token}`}>
              <td class="clip">
                <a href={scheduleLink(run.schedule)}>{run.schedule}</a>
              </td>
              <td>
                <a href={fireLink(run)}>
                  <When at={run.dueAt} />
                </a>
              </td>
              <td class="number nowrap">{formatDuration(run.latenessMs)}</td>
              <td>
                <OutcomeBadge state={run.state} reason={run.reason} />
              </td>
              <td class="number">{run.attempt}</td>
              <td class="clip">
                <a href={link(['fleet'])}>{run.instance === '' ? 'none any more' : run.instance}</a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
