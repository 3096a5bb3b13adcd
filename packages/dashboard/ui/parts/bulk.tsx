import { useState } from 'preact/hooks'
import { part, post } from '../core/api.ts'
import { counted } from '../core/format.ts'
import { authored, can } from '../core/session.ts'
import type { ScheduleView } from '../core/types.ts'
import { ActionDialog } from './dialog.tsx'
import { tell } from './feedback.tsx'

const AT_A_TIME = 4
const ACTIONS = {
  pause: {
    title: 'Pause',
    path: 'pause',
    operation: 'pauseSchedule',
    fits: (one: ScheduleView) => one.state === 'active',
  },
  resume: {
    title: 'Resume',
    path: 'resume',
    operation: 'resumeSchedule',
    fits: (one: ScheduleView) => one.state === 'paused',
  },
  run: {
    title: 'Run now',
    path: 'trigger',
    operation: 'triggerSchedule',
    fits: (one: ScheduleView) => one.state === 'active',
  },
} as const
type Action = keyof typeof ACTIONS

/** Acts on all schedules that match the filter; each button says how many that are. */
export function BulkBar({ schedules, done }: { schedules: readonly ScheduleView[]; done: () => void }) {
  const [action, setAction] = useState<Action | null>(null)
  const names = (Object.keys(ACTIONS) as Action[]).filter((name) => can(ACTIONS[name].operation))
  if (names.length === 0) return null
  return (
    <div class="actions bulk">
      <span class="muted">All that match:</span>
      {names.map((name) => {
        const count = schedules.filter(ACTIONS[name].fits).length
        return (
          <button type="button" key={name} data-bulk={name} disabled={count === 0} onClick={() => setAction(name)}>
            {ACTIONS[name].title} {count}
          </button>
        )
      })}
      {action === null ? null : (
        <BulkDialog
          action={action}
          schedules={schedules.filter(ACTIONS[action].fits)}
          onClose={() => setAction(null)}
          done={done}
        />
      )}
    </div>
  )
}

interface BulkDialogProps {
  readonly action: Action
  readonly schedules: readonly ScheduleView[]
  readonly onClose: () => void
  readonly done: () => void
}

function BulkDialog({ action, schedules, onClose, done }: BulkDialogProps) {
  const { title, path } = ACTIONS[action]
  const act = async (note: string): Promise<void> => {
    const failed = await inTurns(schedules, ({ name }) => post(`schedules/${part(name)}/${path}`, authored(note)))
    done()
    tell(
      `${title}: ${counted(schedules.length - failed, 'schedule')} done${failed === 0 ? '.' : `, ${failed} failed.`}`,
      failed > 0,
    )
  }
  return (
    <ActionDialog title={`${title}: ${counted(schedules.length, 'schedule')}`} verb={title} act={act} onClose={onClose}>
      <ul class="names">
        {schedules.slice(0, 8).map(({ name }) => (
          <li key={name}>{name}</li>
        ))}
        {schedules.length > 8 ? <li class="muted">and {schedules.length - 8} more</li> : null}
      </ul>
    </ActionDialog>
  )
}

/** Answers how many failed. */
async function inTurns<Item>(items: readonly Item[], act: (item: Item) => Promise<unknown>): Promise<number> {
  const rest = [...items]
  let failed = 0
  const work = async (): Promise<void> => {
    for (let item = rest.pop(); item !== undefined; item = rest.pop()) {
      await act(item).catch(() => {
        failed++
      })
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
  return failed
}
