import type { Place } from '../facts/place.ts'
import type { Schedule } from '../facts/schedule.ts'
import type { Project } from '../join/project.ts'
import { type Rule, report } from './rule.ts'

/** Schedules of units of which several instances run for certain, each with the line that says so. */
function duplicatedSchedules(project: Project): ReadonlyMap<Schedule, Place> {
  return new Map(
    project.units.flatMap(({ unit, isMany, schedules }) =>
      isMany ? schedules.map((schedule) => [schedule, unit.place] as const) : [],
    ),
  )
}

/** `null`: no finding. A run that only logs, or that changes nothing the second time, is a fact to know. */
function levelOf(schedule: Schedule, duplicated: ReadonlyMap<Schedule, Place>): 'error' | 'warning' | 'info' | null {
  const { runner, guard, when, handler } = schedule
  if (runner !== 'process' || when.kind === 'once') return null
  if (guard.kind !== 'none' && guard.kind !== 'ineffective') return null
  if (handler.effect === 'process-local') return null
  if (handler.effect !== 'unknown' || schedule.isUnreached === true || isExample(schedule.place.path)) return 'info'
  return duplicated.has(schedule) ? 'error' : 'warning'
}

function isExample(path: string): boolean {
  return /(?:^|\/)(?:examples?|samples?|demos?|docs|playground|scripts|sandbox)\//i.test(path)
}

function message({ handler, source }: Schedule): string {
  const what = handler.text === '' ? 'A job' : `\`${handler.text}\``
  return `${what} is scheduled by ${source} in every instance, and nothing keeps a second instance from running the same fire.`
}

export const FLT001: Rule = {
  id: 'FLT001',
  level: 'warning',
  isScored: true,
  title: 'schedule without a guard across instances',
  why: 'Every replica fires: with three instances the job runs three times.',
  fix: 'Take a lease per fire in a shared store (node-cron: the coordinator of `cronce/node-cron`), or declare the job with cronce.',
  bad: {
    'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', async () => { await sendReminders() })\n",
  },
  good: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('0 * * * *', async () => {\n  const won = await redis.set(`reminders:${slot()}`, '1', 'EX', 3000, 'NX')\n  if (!won) return\n  await sendReminders()\n})\n",
  },
  check: (project) => {
    const duplicated = duplicatedSchedules(project)
    return project.all('schedule').flatMap((schedule) => {
      const level = levelOf(schedule, duplicated)
      if (level === null) return []
      const finding = report(FLT001, schedule.place, message(schedule), level)
      const place = level === 'error' ? duplicated.get(schedule) : undefined
      return [place === undefined ? finding : { ...finding, related: [{ place, text: 'starts several instances' }] }]
    })
  },
}
