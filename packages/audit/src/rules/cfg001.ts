import type { Schedule } from '../facts/schedule.ts'
import { packageOf } from '../join/packages.ts'
import { type Finding, type Rule, report } from './rule.ts'

/** Schedulers that know a schedule by its name. */
const NAMED: ReadonlySet<Schedule['source']> = new Set([
  'nest',
  'node-cron',
  'bullmq',
  'pg-boss',
  'agenda',
  'apscheduler',
])

export const CFG001: Rule = {
  id: 'CFG001',
  level: 'info',
  isScored: false,
  title: 'two schedules with one name',
  why: 'The scheduler knows a schedule by its name: the second one replaces the first, or is refused.',
  fix: 'Give each schedule a name of its own.',
  bad: {
    'a.js': "await queue.upsertJobScheduler('report', { pattern: '0 3 * * *', tz: 'UTC' })\n",
    'b.js': "await queue.upsertJobScheduler('report', { pattern: '0 4 * * *', tz: 'UTC' })\n",
  },
  good: {
    'a.js': "await queue.upsertJobScheduler('report', { pattern: '0 3 * * *', tz: 'UTC' })\n",
    'b.js': "await queue.upsertJobScheduler('digest', { pattern: '0 4 * * *', tz: 'UTC' })\n",
  },
  check: (project) => {
    const seen = new Map<string, Schedule>()
    return project.all('schedule').flatMap((schedule): readonly Finding[] => {
      const { name, source, place, zoneGroup } = schedule
      if (name === null || !NAMED.has(source)) return []
      const key = [source, zoneGroup ?? packageOf(project.tree, place.path).folder, name].join(' ')
      const first = seen.get(key)
      if (first === undefined) seen.set(key, schedule)
      if (first === undefined || (first.place.path === place.path && first.place.line === place.line)) return []
      const text = `\`${name}\` is also the name of the schedule at ${first.place.path}:${first.place.line}.`
      return [{ ...report(CFG001, place, text), related: [{ place: first.place, text: 'the other one' }] }]
    })
  },
}
