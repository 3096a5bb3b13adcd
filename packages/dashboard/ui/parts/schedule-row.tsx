import { formatWall, ruleText, zoneOf } from '../core/format.ts'
import { shownZone } from '../core/preferences.ts'
import { scheduleLink } from '../core/router.ts'
import type { ScheduleView, StripData } from '../core/types.ts'
import { ruleWords } from '../core/words.ts'
import { StateBadge } from './outcome.tsx'
import { Strip } from './strip.tsx'
import { Next, When } from './when.tsx'

interface ScheduleRowProps {
  readonly schedule: ScheduleView
  readonly strip: StripData | undefined
  readonly index: number
  readonly count: number
  readonly isChosen: boolean
}

export function ScheduleRow({ schedule, strip, index, count, isChosen }: ScheduleRowProps) {
  const { name, job, state, nextAt, last } = schedule
  const tz = zoneOf(schedule)
  const words = ruleWords(schedule).replace(` (${tz})`, '')
  return (
    <li class="row" aria-posinset={index + 1} aria-setsize={count} data-chosen={isChosen}>
      <div class="name">
        <a href={scheduleLink(name)} title={name}>
          {name}
        </a>
        {job === name ? null : <span class="muted">job {job}</span>}
      </div>
      <div class="rule">
        <span title={words}>{words}</span>
        {schedule.trigger?.kind === 'cron' ? (
          <span class="muted" title={`${ruleText(schedule)} · ${tz}`}>
            <code>{ruleText(schedule)}</code> {tz}
          </span>
        ) : null}
      </div>
      <div class="strip-cell">
        <Strip strip={strip} />
      </div>
      <div class="rate">
        <Rate strip={strip} />
      </div>
      <div class="last">
        <When at={last.dueAt} tz={tz} relative none="never" />
      </div>
      <div class="next">
        {state === 'active' ? <Next at={nextAt} tz={tz} /> : null}
        {state === 'active' ? null : <PauseBadge schedule={schedule} />}
      </div>
    </li>
  )
}

/** The titles of the columns, which stay while the rows move. */
export function ScheduleTitles() {
  return (
    <div class="row titles" aria-hidden="true">
      <div class="name">Schedule</div>
      <div class="rule">Rule</div>
      <div class="strip-cell">Latest 60 fires</div>
      <div class="rate">Good</div>
      <div class="last">Last</div>
      <div class="next">Next</div>
    </div>
  )
}

/** How many of the fires that were run succeeded. */
function Rate({ strip }: { strip: StripData | undefined }) {
  const ended = strip?.fires.filter(({ state }) => ['succeeded', 'failed', 'abandoned'].includes(state)) ?? []
  if (ended.length === 0) return <span class="muted">–</span>
  const share = ended.filter(({ state }) => state === 'succeeded').length / ended.length
  // 99.6 % is not 100 %.
  return <span class={share < 1 ? 'is-bad' : ''}>{Math.floor(share * 100)} %</span>
}

/** Who paused it, why and until when; all of it on hover. */
function PauseBadge({ schedule: { state, pause } }: { schedule: ScheduleView }) {
  const why = [pause?.author, pause?.note].filter((one) => one).join(': ')
  const until = pause?.untilAt == null ? '' : `until ${formatWall(pause.untilAt, shownZone(undefined)).slice(5, 16)}`
  const words = [until, why].filter((one) => one !== '').join(', ')
  return (
    <span class="state" title={words}>
      <StateBadge state={state} />
      {words === '' ? null : <span class="muted">{words}</span>}
    </span>
  )
}
