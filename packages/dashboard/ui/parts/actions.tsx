import { useState } from 'preact/hooks'
import { type ApiError, part, post, remove } from '../core/api.ts'
import { counted, formatWall, zoneOf } from '../core/format.ts'
import { go, link } from '../core/router.ts'
import { authored, can, maySeeInput } from '../core/session.ts'
import type { ActionProps, ScheduleView } from '../core/types.ts'
import { ActionDialog } from './dialog.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { ErrorBox, tell } from './feedback.tsx'
import { Icon, type IconName } from './icons.tsx'

export type ActionName = 'run' | 'pause' | 'resume' | 'skip' | 'backfill' | 'edit' | 'remove'

export function ScheduleAction({ name, ...props }: ActionProps & { name: ActionName }) {
  switch (name) {
    case 'run':
      return <RunDialog {...props} />
    case 'pause':
      return <PauseDialog {...props} />
    case 'resume':
      return <ResumeDialog {...props} />
    case 'skip':
      return <SkipDialog {...props} />
    case 'backfill':
      return <BackfillDialog {...props} />
    case 'edit':
      return <EditDialog {...props} />
    case 'remove':
      return <RemoveDialog {...props} />
  }
}

interface Offer {
  readonly name: ActionName
  readonly title: string
  readonly icon: IconName
  readonly operation: string
  readonly fits: (schedule: ScheduleView) => boolean
}

const OFFERS: readonly Offer[] = [
  {
    name: 'run',
    title: 'Run now',
    icon: 'play',
    operation: 'triggerSchedule',
    fits: ({ state }) => state !== 'retired',
  },
  { name: 'pause', title: 'Pause', icon: 'pause', operation: 'pauseSchedule', fits: ({ state }) => state === 'active' },
  {
    name: 'resume',
    title: 'Resume',
    icon: 'play',
    operation: 'resumeSchedule',
    fits: ({ state }) => state === 'paused',
  },
  {
    name: 'skip',
    title: 'Skip next',
    icon: 'skip',
    operation: 'skipNext',
    fits: ({ nextAt, state }) => nextAt !== null && state === 'active',
  },
  {
    name: 'backfill',
    title: 'Backfill',
    icon: 'fill',
    operation: 'backfillSchedule',
    fits: ({ trigger }) => trigger !== null,
  },
  {
    name: 'edit',
    title: 'Edit',
    icon: 'edit',
    operation: 'putSchedule',
    // Saving sends the whole definition, so who does not see the input would erase it.
    fits: ({ app, trigger }) => app === null && trigger?.kind !== 'at' && maySeeInput(),
  },
  { name: 'remove', title: 'Remove', icon: 'bin', operation: 'removeSchedule', fits: ({ app }) => app === null },
]

/** Only what this user may do, and what makes sense now. Pause and resume are two actions: two tabs cannot toggle each other. */
export function ActionBar({ schedule, done }: { schedule: ScheduleView; done: () => void }) {
  const [name, setName] = useState<ActionName | null>(null)
  const offers = OFFERS.filter(({ operation, fits }) => can(operation) && fits(schedule))
  return (
    <div class="actions">
      {offers.map((offer) => (
        <button type="button" key={offer.name} data-action={offer.name} onClick={() => setName(offer.name)}>
          <Icon name={offer.icon} />
          {offer.title}
        </button>
      ))}
      {name === null ? null : (
        <ScheduleAction name={name} schedule={schedule} done={done} onClose={() => setName(null)} />
      )}
    </div>
  )
}

function pathOf({ name }: ScheduleView, verb: string): string {
  return `schedules/${part(name)}/${verb}`
}

function RunDialog({ schedule, onClose, done }: ActionProps) {
  const [ignore, setIgnore] = useState(false)
  const act = async (note: string): Promise<void> => {
    await post(pathOf(schedule, 'trigger'), { ...(ignore ? { overlap: 'ignore' } : {}), ...authored(note) })
    tell(`${schedule.name} was triggered.`)
    done()
  }
  return (
    <ActionDialog title={`Run ${schedule.name} now`} verb="Run now" act={act} onClose={onClose}>
      <p>Adds one fire that is due now. The times of the schedule stay as they are.</p>
      <label class="check">
        <input type="checkbox" checked={ignore} onChange={(event) => setIgnore(event.currentTarget.checked)} />
        Start it even if another fire is active (its overlap rule: {schedule.policy.overlap.kind})
      </label>
    </ActionDialog>
  )
}

const MISSED = [
  ['skip', 'Skip them'],
  ['latest', 'Run the latest'],
  ['all', 'Run all of them'],
] as const

function MissedField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <label>
      Fires that fall due meanwhile
      <select name="missed" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {MISSED.map(([choice, words]) => (
          <option key={choice} value={choice}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}

function PauseDialog({ schedule, onClose, done }: ActionProps) {
  const [until, setUntil] = useState('')
  const [missed, setMissed] = useState('skip')
  const act = async (note: string): Promise<void> => {
    const body = { missed, ...(until === '' ? {} : { until: new Date(until).getTime() }), ...authored(note) }
    await post(pathOf(schedule, 'pause'), body)
    tell(`${schedule.name} is paused.`)
    done()
  }
  return (
    <ActionDialog title={`Pause ${schedule.name}`} verb="Pause" act={act} onClose={onClose}>
      <p>Fires that are due by now still run. Nothing is due while it is paused.</p>
      <label>
        Until (your time; empty: until it is resumed)
        <input
          type="datetime-local"
          name="until"
          value={until}
          onInput={(event) => setUntil(event.currentTarget.value)}
        />
      </label>
      <MissedField value={missed} onChange={setMissed} />
    </ActionDialog>
  )
}

function ResumeDialog({ schedule, onClose, done }: ActionProps) {
  const [missed, setMissed] = useState<string>(schedule.pause?.missed ?? 'skip')
  const act = async (note: string): Promise<void> => {
    await post(pathOf(schedule, 'resume'), { missed, ...authored(note) })
    tell(`${schedule.name} is active again.`)
    done()
  }
  return (
    <ActionDialog title={`Resume ${schedule.name}`} verb="Resume" act={act} onClose={onClose}>
      <MissedField value={missed} onChange={setMissed} />
    </ActionDialog>
  )
}

function SkipDialog({ schedule, onClose, done }: ActionProps) {
  const dueAt = schedule.nextAt!
  const tz = zoneOf(schedule)
  const act = async (note: string): Promise<void> => {
    await post(pathOf(schedule, 'skip-next'), { dueAt, ...authored(note) })
    tell('The next fire is skipped.')
    done()
  }
  return (
    <ActionDialog title={`Skip the next fire of ${schedule.name}`} verb="Skip it" act={act} onClose={onClose}>
      <p>
        The fire due at {formatWall(dueAt, tz)} {tz} is recorded as skipped. Those after it stay.
      </p>
    </ActionDialog>
  )
}

interface Preview {
  readonly preview: {
    readonly instants: number
    readonly toRun: number
    readonly alreadyRun: number
    readonly more: boolean
  }
}

/** The count is shown first; only then it can be started. */
function BackfillDialog({ schedule, onClose, done }: ActionProps) {
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [preview, setPreview] = useState<Preview['preview'] | null>(null)
  const [force, setForce] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)
  const range = { from: new Date(from).getTime(), to: new Date(to).getTime(), ...(force ? { force } : {}) }
  const isComplete = Number.isFinite(range.from) && Number.isFinite(range.to)
  const act = async (note: string): Promise<void> => {
    await post(pathOf(schedule, 'backfill'), { ...range, ...authored(note) })
    tell('The backfill is queued.')
    done()
  }
  const look = (): void => {
    const asked = post<Preview>(pathOf(schedule, 'backfill'), { ...range, dryRun: true })
    asked.then(
      (answer) => {
        setPreview(answer.preview)
        setError(null)
      },
      (caught: ApiError) => setError(caught),
    )
  }
  const change = (set: (text: string) => void) => (event: { currentTarget: HTMLInputElement }) => {
    set(event.currentTarget.value)
    setPreview(null)
  }
  return (
    <ActionDialog
      title={`Backfill ${schedule.name}`}
      verb={preview === null ? 'Preview first' : `Run ${counted(preview.toRun, 'fire')}`}
      isDisabled={preview === null || preview.toRun === 0}
      act={act}
      onClose={onClose}
    >
      <p>Runs what was missed or skipped in a stretch of time. What was run is never repeated.</p>
      <label>
        From (your time)
        <input type="datetime-local" name="from" step="1" value={from} onInput={change(setFrom)} />
      </label>
      <label>
        To
        <input type="datetime-local" name="to" step="1" value={to} onInput={change(setTo)} />
      </label>
      <label class="check">
        <input
          type="checkbox"
          name="force"
          checked={force}
          onChange={(event) => {
            setForce(event.currentTarget.checked)
            setPreview(null)
          }}
        />
        Also due times from before the schedule was made: that may repeat fires
      </label>
      {error === null ? null : <ErrorBox error={error} />}
      <button type="button" disabled={!isComplete} onClick={look}>
        Preview
      </button>
      {preview === null ? null : (
        <p role="status">
          {counted(preview.instants, 'due time')}: {preview.toRun} to run, {preview.alreadyRun} were run already.
          {preview.more ? ' There are more.' : ''}
        </p>
      )}
    </ActionDialog>
  )
}

function RemoveDialog({ schedule, onClose, done }: ActionProps) {
  const act = async (note: string): Promise<void> => {
    await remove(`schedules/${part(schedule.name)}`, authored(note))
    tell(`${schedule.name} is removed.`)
    done()
    go(link(['schedules']))
  }
  return (
    <ActionDialog title={`Remove ${schedule.name}`} verb="Remove" isDangerous act={act} onClose={onClose}>
      <p>It is due no more. Its records stay for their time.</p>
    </ActionDialog>
  )
}
