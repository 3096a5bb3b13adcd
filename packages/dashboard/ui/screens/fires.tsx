import type { Query } from '../core/api.ts'
import { formatDuration } from '../core/format.ts'
import { place, setQuery } from '../core/router.ts'
import { FiresTable } from '../parts/fires-table.tsx'
import { LateRuns } from '../parts/late-runs.tsx'
import { When } from '../parts/when.tsx'

const OUTCOMES = ['', 'open', 'succeeded', 'failed', 'missed', 'skipped', 'abandoned', 'cancelled'] as const

export function FiresScreen() {
  const { query } = place.value
  const given = (name: string): string | undefined => query.get(name) ?? undefined
  const [schedule, job, from, to, late] = ['schedule', 'job', 'from', 'to', 'late'].map(given)
  return (
    <>
      <h1>Fires</h1>
      <div class="filter fields">
        {late === undefined ? <OutcomeField /> : null}
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
        {late === undefined ? null : (
          <span class="muted">
            started at least {formatDuration(Number(late))} after it could{' '}
            <button type="button" class="quiet" onClick={() => setQuery({ late: undefined })}>
              all fires
            </button>
          </span>
        )}
      </div>
      <section class="card">
        {late === undefined ? (
          <AllFires query={{ outcome: given('outcome'), schedule, job, from, to }} />
        ) : (
          <LateRuns query={{ lateBy: late, schedule, job, from, to }} />
        )}
      </section>
    </>
  )
}

function AllFires({ query }: { query: Query }) {
  return (
    <FiresTable query={query} hasSchedule emptyTitle="No fires like that are on record">
      {Object.values(query).some((one) => one !== undefined) ? null : (
        <>
          <p>No schedule has been due in this store. To see one, run a job now:</p>
          <pre>
            <code>npx cronce run NAME</code>
          </pre>
        </>
      )}
    </FiresTable>
  )
}

function OutcomeField() {
  const outcome = place.value.query.get('outcome')
  return (
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
