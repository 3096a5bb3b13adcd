import { place, setQuery } from '../core/router.ts'
import { FiresTable } from '../parts/fires-table.tsx'
import { When } from '../parts/when.tsx'

const OUTCOMES = ['', 'open', 'succeeded', 'failed', 'missed', 'skipped', 'abandoned', 'cancelled'] as const

export function FiresScreen() {
  const { query } = place.value
  const given = (name: string): string | undefined => query.get(name) ?? undefined
  const [outcome, schedule, job, from, to] = ['outcome', 'schedule', 'job', 'from', 'to'].map(given)
  return (
    <>
      <h1>Fires</h1>
      <div class="filter">
        <label>
          Outcome
          <select
            name="outcome"
            value={outcome ?? ''}
            onChange={(event) => setQuery({ outcome: event.currentTarget.value })}
          >
            {OUTCOMES.map((one) => (
              <option key={one} value={one}>
                {one === '' ? 'any' : one}
              </option>
            ))}
          </select>
        </label>
        <label>
          Schedule
          <input
            name="schedule"
            value={schedule ?? ''}
            onChange={(event) => setQuery({ schedule: event.currentTarget.value })}
          />
        </label>
        <label>
          Job
          <input name="job" value={job ?? ''} onChange={(event) => setQuery({ job: event.currentTarget.value })} />
        </label>
        <Range from={from} to={to} />
      </div>
      <section class="card">
        <FiresTable
          query={{ outcome, schedule, job, from, to }}
          hasSchedule
          emptyTitle="No fires like that are on record"
        />
      </section>
    </>
  )
}

function Range({ from, to }: { from: string | undefined; to: string | undefined }) {
  if (from === undefined && to === undefined) return null
  return (
    <span class="muted">
      due{' '}
      {from === undefined ? null : (
        <>
          from <When at={Number(from)} />
        </>
      )}{' '}
      {to === undefined ? null : (
        <>
          to <When at={Number(to)} />
        </>
      )}{' '}
      <button type="button" class="quiet" onClick={() => setQuery({ from: undefined, to: undefined })}>
        any time
      </button>
    </span>
  )
}
