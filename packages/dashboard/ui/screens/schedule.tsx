import { useState } from 'preact/hooks'
import { get, part } from '../core/api.ts'
import { ruleText, zoneOf } from '../core/format.ts'
import { useKeys } from '../core/keys.ts'
import { scheduleOf, useLive } from '../core/live.ts'
import { useLoad, useThrottled } from '../core/load.ts'
import { link, place } from '../core/router.ts'
import { can, maySeeInput } from '../core/session.ts'
import type { Deployments, Items, ScheduleView, StripData } from '../core/types.ts'
import { codeOf, policyWords, ruleWords } from '../core/words.ts'
import { ActionBar, type ActionName, ScheduleAction } from '../parts/actions.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Card, Empty, Show } from '../parts/feedback.tsx'
import { FiresTable } from '../parts/fires-table.tsx'
import { NextFires } from '../parts/next-fires.tsx'
import { StateBadge } from '../parts/outcome.tsx'
import { RangeChoice, RangeStrip } from '../parts/range-strip.tsx'
import { Reveal } from '../parts/reveal.tsx'
import { LargeStrip, Legend } from '../parts/strip.tsx'
import { Trend } from '../parts/trend.tsx'
import { When } from '../parts/when.tsx'

const REFRESH_MS = 2_000
const STRIP_FIRES = 120

export function ScheduleScreen({ name }: { name: string }) {
  const range = place.value.query.get('range') ?? ''
  const loaded = useLoad<ScheduleView>(name, (signal) => get(`schedules/${part(name)}`, {}, signal))
  const strip = useLoad(name, async (signal) => {
    const query = { names: JSON.stringify([name]), limit: STRIP_FIRES }
    return (await get<Items<StripData>>('strips', query, signal)).items[0]!
  })
  const refresh = useThrottled(REFRESH_MS, () => {
    loaded.reload()
    strip.reload()
  })
  useLive((event) => {
    if ([name, null].includes(scheduleOf(event))) refresh()
  })
  if (loaded.error?.code === 'SCHEDULE_NOT_FOUND') return <Missing name={name} hint={loaded.error.hint} />
  return (
    <>
      <Show from={loaded}>{(schedule) => <Head schedule={schedule} reload={refresh} />}</Show>
      <Card title={range === '' ? 'Latest fires' : 'Fires'} aside={<Legend />}>
        <RangeChoice range={range} />
        {range === '' ? (
          <Show from={strip}>
            {(data) => (
              <>
                <LargeStrip strip={data} tz={loaded.data === null ? 'UTC' : zoneOf(loaded.data)} />
                <Trend strip={data} />
              </>
            )}
          </Show>
        ) : (
          <RangeStrip
            name={name}
            range={range}
            tz={loaded.data === null ? 'UTC' : zoneOf(loaded.data)}
            keepMs={loaded.data?.policy.retention.keepMs ?? Number.POSITIVE_INFINITY}
          />
        )}
      </Card>
      {loaded.data === null ? null : <Details schedule={loaded.data} />}
    </>
  )
}

/** It was removed, or the address is wrong. Its records may be left. */
function Missing({ name, hint }: { name: string; hint: string | null }) {
  return (
    <>
      <p class="crumbs">
        <a href={link(['schedules'])}>Schedules</a>
      </p>
      <h1>{name}</h1>
      <Empty title="There is no such schedule">
        <p>{hint}</p>
        <p>
          <a href={link(['fires'], { schedule: name })}>Fires that are on record under this name</a>
        </p>
      </Empty>
    </>
  )
}

function Head({ schedule, reload }: { schedule: ScheduleView; reload: () => void }) {
  const { name, job, state, app, tenant } = schedule
  const tz = zoneOf(schedule)
  const words = ruleWords(schedule)
  const [action, setAction] = useState<ActionName | null>(null)
  useKeys({
    ...(can('pauseSchedule') ? { p: () => setAction(state === 'paused' ? 'resume' : 'pause') } : {}),
    ...(can('triggerSchedule') ? { r: () => setAction('run') } : {}),
  })
  return (
    <div class="head">
      <p class="crumbs">
        <a href={link(['schedules'])}>Schedules</a>
      </p>
      <h1>
        {name} <StateBadge state={state} />
      </h1>
      <p class="lead">
        {words} <code>{ruleText(schedule)}</code> <span class="muted">{words.includes(tz) ? '' : tz}</span>
      </p>
      <p class="muted">
        Job {job}
        {app === null ? ', made by a client' : `, declared by the code of ${app}`}
        {tenant === null ? '' : `, tenant ${tenant}`}
      </p>
      <PauseNotice schedule={schedule} />
      <ActionBar schedule={schedule} done={reload} />
      {action === null ? null : (
        <ScheduleAction name={action} schedule={schedule} done={reload} onClose={() => setAction(null)} />
      )}
    </div>
  )
}

function PauseNotice({ schedule }: { schedule: ScheduleView }) {
  const { pause, retiredAt } = schedule
  if (retiredAt !== null)
    return (
      <p class="notice">
        Retired <When at={retiredAt} relative />: no code declares it.
      </p>
    )
  if (pause === null) return null
  return (
    <p class="notice">
      Paused <When at={pause.at} relative /> {pause.author === null ? '' : `by ${pause.author}`}
      {pause.note === null ? '' : `: ${pause.note}`}.{' '}
      <span class="muted">
        {pause.untilAt === null ? (
          'No end is set.'
        ) : (
          <>
            It ends at <When at={pause.untilAt} tz={zoneOf(schedule)} />.
          </>
        )}
      </span>
    </p>
  )
}

function Details({ schedule }: { schedule: ScheduleView }) {
  const tz = zoneOf(schedule)
  return (
    <>
      <div class="columns two">
        <NextFires schedule={schedule} />
        <PolicyCard schedule={schedule} />
      </div>
      <Card title="History">
        <FiresTable query={{ schedule: schedule.name }} tz={tz} emptyTitle="It has not been due yet" />
      </Card>
    </>
  )
}

function PolicyCard({ schedule }: { schedule: ScheduleView }) {
  const { name, app, policy, input, startAt, endAt, revision, updatedAt, fired, limit } = schedule
  const tz = zoneOf(schedule)
  return (
    <Card title="Policy" aside={<CopyButton label="Copy as code" text={codeOf(schedule)} />}>
      <dl class="facts">
        {policyWords(policy).map(([name, words]) => (
          <>
            <dt>{name}</dt>
            <dd>{words}</dd>
          </>
        ))}
        {startAt === null ? null : (
          <>
            <dt>starts</dt>
            <dd>
              <When at={startAt} tz={tz} />
            </dd>
          </>
        )}
        {endAt === null ? null : (
          <>
            <dt>ends</dt>
            <dd>
              <When at={endAt} tz={tz} />
            </dd>
          </>
        )}
        <dt>fired</dt>
        <dd>{limit === null ? fired : `${fired} of ${limit}`}</dd>
        <dt>defined</dt>
        <dd>
          revision {revision}, <When at={updatedAt} tz={tz} relative />
        </dd>
        {app === null || !can('getDeployments') ? null : <Declared app={app} name={name} />}
        {input === null && maySeeInput() ? null : (
          <>
            <dt>input</dt>
            <dd>
              <Reveal label="input" value={input} />
            </dd>
          </>
        )}
      </dl>
    </Card>
  )
}

/** The deployments of its app that have it in their code. */
function Declared({ app, name }: { app: string; name: string }) {
  const { data } = useLoad<Deployments>(`deployments ${app}`, (signal) =>
    get(`apps/${part(app)}/deployments`, {}, signal),
  )
  const ids = data?.deployments.filter(({ declares }) => declares.includes(name)).map(({ id }) => id) ?? []
  if (data === null || ids.length === 0) return null
  return (
    <>
      <dt>declared in</dt>
      <dd>{ids.map((id) => (id === data.active ? `${id} (active)` : id)).join(', ')}</dd>
    </>
  )
}
