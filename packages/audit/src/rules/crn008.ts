import { judge, shortestGap } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

export const CRN008: Rule = {
  id: 'CRN008',
  level: 'info',
  isScored: false,
  title: 'schedule that fires every minute or more often',
  why: 'A run that takes longer than the period meets the next one.',
  fix: 'Use a longer period, or make sure that runs cannot overlap.',
  bad: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => sendReminders())\n" },
  good: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/5 * * * *', () => sendReminders())\n" },
  check: (project) =>
    project.all('schedule').flatMap(({ when, place, whenPlace }) => {
      const trigger = when.kind === 'cron' ? judge(when.expression, when.dialect).trigger : null
      const gap = trigger === null ? null : shortestGap(trigger)
      if (gap === null || gap > 60_000) return []
      return [report(CRN008, whenPlace ?? place, `It fires as often as every ${gap / 1000} s.`)]
    }),
}
