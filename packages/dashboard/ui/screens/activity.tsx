import { useState } from 'preact/hooks'
import { get } from '../core/api.ts'
import { useLoad } from '../core/load.ts'
import { link, scheduleLink } from '../core/router.ts'
import type { Page } from '../core/types.ts'
import { Card, Empty, Show } from '../parts/feedback.tsx'
import { Reveal } from '../parts/reveal.tsx'
import { When } from '../parts/when.tsx'

interface Entry {
  readonly id: string
  readonly at: number
  readonly action: string
  readonly origin: string
  readonly author: string | null
  readonly note: string | null
  readonly subject: { readonly type: string; readonly name: string }
  readonly changed: Readonly<Record<string, unknown>>
}

const PAGE = 50

/** Who paused, ran or edited what, from the dashboard, the API, code or the command line. */
export function ActivityScreen() {
  const [limit, setLimit] = useState(PAGE)
  const loaded = useLoad<Page<Entry>>('activity', (signal) => get('activity', { limit }, signal))
  return (
    <>
      <h1>Activity</h1>
      <Show from={loaded}>
        {({ items, next }) =>
          items.length === 0 ? (
            <Empty title="No operator has changed anything yet" command="npx cronce pause NAME --note 'why'">
              <p>Changes made here, over the API, in code or by a command such as this one are listed here:</p>
            </Empty>
          ) : (
            <Card title="Operator log">
              <Entries items={items} />
              {next === null ? null : (
                <button
                  type="button"
                  data-more
                  onClick={() => {
                    setLimit((old) => Math.min(1_000, old + PAGE))
                    loaded.reload()
                  }}
                >
                  Show {PAGE} more
                </button>
              )}
            </Card>
          )
        }
      </Show>
    </>
  )
}

function Entries({ items }: { items: readonly Entry[] }) {
  return (
    <ul class="lines entries">
      {items.map(({ id, at, action, origin, author, note, subject, changed }) => (
        <li key={id}>
          <When at={at} />
          <span>
            {author === null ? <span class="muted">no author</span> : author} <span class="tag">{origin}</span>
          </span>
          <span>
            <strong>{action}</strong>{' '}
            <a href={subject.type === 'schedule' ? scheduleLink(subject.name) : link(['fleet'])}>{subject.name}</a>
          </span>
          <span class="muted">{note}</span>
          <span>
            {Object.keys(changed ?? {}).length === 0 ? null : <Reveal label="what changed" value={changed} />}
          </span>
        </li>
      ))}
    </ul>
  )
}
