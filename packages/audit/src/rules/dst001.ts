import { clockChange, judge, namesHours } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

export const DST001: Rule = {
  id: 'DST001',
  level: 'warning',
  isScored: true,
  title: 'time of day that a clock change skips or repeats',
  why: 'The job is skipped or runs twice on the day of the clock change.',
  fix: 'Choose a time outside the change, or a zone without clock changes.',
  bad: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('30 2 * * *', () => sendReminders(), { timezone: 'Europe/Berlin' })\n",
  },
  good: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('30 4 * * *', () => sendReminders(), { timezone: 'Europe/Berlin' })\n",
  },
  check: (project) =>
    project.all('schedule').flatMap(({ when, zone, place }) => {
      if (when.kind !== 'cron' || zone.kind !== 'stated') return []
      const judged = judge(when.expression, when.dialect)
      if (judged.trigger === null || !namesHours(judged)) return []
      const change = clockChange(judged.trigger.normalized, zone.name)
      if (change === null) return []
      const what = change.effect === 'dropped' ? 'does not exist' : 'exists twice'
      return [
        report(
          DST001,
          place,
          `${change.local.replace('T', ' ')} ${what} in ${zone.name}, and \`${when.expression}\` names it.`,
        ),
      ]
    }),
}
