import { useCallback, useMemo, useRef, useState } from 'preact/hooks'
import { FILTER_WORDS, readFilter } from '../core/filter.ts'
import { counted } from '../core/format.ts'
import { useKeys } from '../core/keys.ts'
import { useLive } from '../core/live.ts'
import { useLoad, useThrottled } from '../core/load.ts'
import { go, place, scheduleLink, setQuery } from '../core/router.ts'
import { type AllSchedules, allSchedules } from '../core/schedules.ts'
import { can } from '../core/session.ts'
import { stripsError, useStrips } from '../core/strips.ts'
import type { ScheduleView } from '../core/types.ts'
import { type ActionName, ScheduleAction } from '../parts/actions.tsx'
import { BulkBar } from '../parts/bulk.tsx'
import { Empty, ErrorBox, Show } from '../parts/feedback.tsx'
import { ScheduleRow, ScheduleTitles } from '../parts/schedule-row.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'

const REFRESH_MS = 5_000
/** A long list is read less often: it is many bytes. */
const REFRESH_LONG_MS = 60_000
const LONG = 1_000
const NARROW = matchMedia('(max-width: 720px)')

export function SchedulesScreen() {
  const loaded = useLoad<AllSchedules>('schedules', allSchedules)
  const isLong = (loaded.data?.items.length ?? 0) > LONG
  const refresh = useThrottled(isLong ? REFRESH_LONG_MS : REFRESH_MS, loaded.reload)
  useLive(refresh)
  return (
    <div class="full">
      <h1>Schedules</h1>
      <Show from={loaded}>
        {({ items, cut }) =>
          items.length === 0 ? (
            <Empty title="No schedules yet" command="npx cronce schedule hello --cron '*/5 * * * *' --job hello">
              <p>Jobs in your code declare theirs; a schedule without code is made by the API or by this command:</p>
            </Empty>
          ) : (
            <ScheduleList all={items} cut={cut} reload={loaded.reload} />
          )
        }
      </Show>
    </div>
  )
}

function ScheduleList({ all, cut, reload }: { all: readonly ScheduleView[]; cut: boolean; reload: () => void }) {
  const q = place.value.query.get('q') ?? ''
  const shown = useMemo(() => all.filter(readFilter(q)), [all, q])
  const [chosen, setChosen] = useState(-1)
  const [action, setAction] = useState<{ name: ActionName; schedule: ScheduleView } | null>(null)
  const [sight, setSight] = useState({ from: 0, to: 0 })
  const strips = useStrips(shown.slice(sight.from, sight.to).map(({ name }) => name))
  const onSight = useCallback((from: number, to: number) => setSight({ from, to }), [])
  const current = shown[chosen]
  const ask = (name: ActionName): void => {
    if (current !== undefined) setAction({ name, schedule: current })
  }
  useKeys({
    j: () => setChosen((old) => Math.min(shown.length - 1, old + 1)),
    k: () => setChosen((old) => Math.max(0, old - 1)),
    Enter: () => current !== undefined && go(scheduleLink(current.name)),
    ...(can('pauseSchedule') ? { p: () => ask(current?.state === 'paused' ? 'resume' : 'pause') } : {}),
    ...(can('triggerSchedule') ? { r: () => ask('run') } : {}),
  })
  return (
    <>
      <FilterBar q={q} shown={shown.length} all={all.length} cut={cut} />
      {q !== '' ? <BulkBar schedules={shown} done={reload} /> : null}
      {stripsError.value === null ? null : (
        <ErrorBox error={stripsError.value} about="The strips of the latest fires" />
      )}
      {shown.length === 0 ? <Empty title="No schedule matches this filter" /> : null}
      <VirtualList
        count={shown.length}
        rowHeight={NARROW.matches ? 88 : 46}
        chosen={chosen}
        label="Schedules"
        head={<ScheduleTitles />}
        onSight={onSight}
        row={(index) => {
          const schedule = shown[index]!
          return (
            <ScheduleRow
              key={schedule.name}
              schedule={schedule}
              index={index}
              count={shown.length}
              isChosen={index === chosen}
              strip={strips.get(schedule.name)}
            />
          )
        }}
      />
      {action === null ? null : <ScheduleAction {...action} onClose={() => setAction(null)} done={reload} />}
    </>
  )
}

interface FilterBarProps {
  readonly q: string
  readonly shown: number
  readonly all: number
  readonly cut: boolean
}

function FilterBar({ q, shown, all, cut }: FilterBarProps) {
  const own = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => own.current?.focus() })
  return (
    <div class="filter">
      <input
        ref={own}
        type="search"
        aria-label="Filter schedules"
        placeholder="Filter: a name, or state:paused, job:…, is:failing"
        title={FILTER_WORDS}
        value={q}
        onInput={(event) => setQuery({ q: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Escape' || event.key === 'Enter') event.currentTarget.blur()
        }}
      />
      <span class="muted" role="status">
        {q === '' ? counted(all, 'schedule') : `${shown} of ${counted(all, 'schedule')}`}
        {cut ? ' (there are more)' : ''}
      </span>
    </div>
  )
}
