import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { get, type Query } from '../core/api.ts'
import { counted, formatDuration } from '../core/format.ts'
import { useKeys } from '../core/keys.ts'
import { type LiveEvent, useLive } from '../core/live.ts'
import { useLoad } from '../core/load.ts'
import { fireLink, go, scheduleLink } from '../core/router.ts'
import type { FireView, Page } from '../core/types.ts'
import { Empty, Show } from './feedback.tsx'
import { OutcomeBadge } from './outcome.tsx'
import { Scroll } from './scroll.tsx'
import { When } from './when.tsx'

const PAGE = 50
/** A page that stays open for days must not remember every fire. */
const FRESH_MOST = 999

interface FiresTableProps {
  /** Of `GET /fires`. */
  readonly query: Query
  readonly tz?: string | undefined
  readonly hasSchedule?: boolean
  readonly emptyTitle: string
  /** What to do where there are none. */
  readonly children?: ComponentChildren
}

/** Fires, the latest first. What happens since is counted and shown when the user asks: rows never move under the pointer. */
export function FiresTable(props: FiresTableProps) {
  // Another question begins anew, at its first page.
  return <Table key={JSON.stringify(props.query)} {...props} />
}

function Table({ query, tz, hasSchedule = false, emptyTitle, children }: FiresTableProps) {
  const [pages, setPages] = useState(1)
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())
  // The rows that are there stay while more are read.
  const loaded = useLoad(JSON.stringify(query), (signal) => readPages(query, pages, signal))
  useLive((event) => {
    const name = newFire(event, query)
    if (name !== null) setFresh((old) => (old.size < FRESH_MOST ? new Set([...old, name]) : old))
  })
  // An event may come after the answer that has it already.
  const ended = new Set(loaded.data?.items.filter(({ state }) => state !== 'open').map(nameOf))
  const count = [...fresh].filter((name) => !ended.has(name)).length
  const more = (): void => {
    setPages((old) => old + 1)
    loaded.reload()
  }
  const reload = (): void => {
    setFresh(new Set())
    loaded.reload()
  }
  return (
    <>
      {count === 0 ? null : (
        <button type="button" class="pill" onClick={reload}>
          {count}
          {fresh.size === FRESH_MOST ? '+' : ''} new
        </button>
      )}
      <Show from={loaded}>
        {({ items, next }) =>
          items.length === 0 && next === null ? (
            <Empty title={emptyTitle}>{children}</Empty>
          ) : (
            <>
              <Rows items={items} tz={tz} hasSchedule={hasSchedule} />
              {next === null ? null : (
                <button type="button" data-more onClick={more}>
                  Show {PAGE} more
                </button>
              )}
            </>
          )
        }
      </Show>
    </>
  )
}

async function readPages(query: Query, pages: number, signal: AbortSignal): Promise<Page<FireView>> {
  const items: FireView[] = []
  let next: string | null = null
  for (let page = 0; page < pages; page++) {
    const found: Page<FireView> = await get('fires', { ...query, limit: PAGE, after: next }, signal)
    items.push(...found.items)
    next = found.next
    if (next === null) break
  }
  return { items, next }
}

/** The name of a fire that the table may not have, as far as the event says whether the question includes it. */
function newFire(event: LiveEvent, query: Query): string | null {
  if (event.kind === 'reset') return null
  const about = event.kind === 'fire.ended' ? event.fire : event.run
  const { schedule, job, state, dueAt } = about
  const asked = { schedule, job, outcome: event.kind === 'run.started' ? 'open' : state } as const
  const isMeant = Object.entries(asked).every(([name, value]) => !query[name] || query[name] === value)
  const isInRange = dueAt >= Number(query['from'] ?? 0) && dueAt < Number(query['to'] ?? Number.POSITIVE_INFINITY)
  return isMeant && isInRange ? nameOf(about) : null
}

function nameOf({ schedule, dueAt, nonce }: Pick<FireView, 'schedule' | 'dueAt' | 'nonce'>): string {
  return `${schedule} ${dueAt} ${nonce}`
}

function Rows({
  items,
  tz,
  hasSchedule,
}: {
  items: readonly FireView[]
  tz: string | undefined
  hasSchedule: boolean
}) {
  const [chosen, setChosen] = useState(-1)
  useKeys({
    j: () => setChosen((old) => Math.min(items.length - 1, old + 1)),
    k: () => setChosen((old) => Math.max(0, old - 1)),
    Enter: () => items[chosen] !== undefined && go(fireLink(items[chosen])),
  })
  return (
    <Scroll>
      <table class="fires">
        <thead>
          <tr>
            {hasSchedule ? <th scope="col">Schedule</th> : null}
            <th scope="col">Due</th>
            <th scope="col">Outcome</th>
            <th scope="col" class="number">
              Attempts
            </th>
            <th scope="col" class="number wide">
              Ended after
            </th>
            <th scope="col" class="wide">
              Why
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((fire, index) => (
            <tr key={`${fire.schedule} ${fire.dueAt} ${fire.nonce}`} data-chosen={index === chosen}>
              {hasSchedule ? (
                <td class="clip">
                  <a href={scheduleLink(fire.schedule)}>{fire.schedule}</a>
                </td>
              ) : null}
              <FireCells fire={fire} tz={tz} />
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function FireCells({ fire, tz }: { fire: FireView; tz: string | undefined }) {
  const { dueAt, endedAt, attempt, detail, kind, range } = fire
  return (
    <>
      <td>
        <a href={fireLink(fire)}>
          <When at={dueAt} tz={tz} />
        </a>
        {kind === 'scheduled' ? null : <span class="tag">{kind}</span>}
        {range === null ? null : <span class="tag">{counted(range.count, 'due time')}</span>}
      </td>
      <td>
        <OutcomeBadge state={fire.state} reason={fire.reason} />
      </td>
      <td class="number">{attempt}</td>
      <td class="number wide">{endedAt === null || range !== null ? '–' : formatDuration(endedAt - dueAt)}</td>
      <td class="wide clip muted">{detail}</td>
    </>
  )
}
