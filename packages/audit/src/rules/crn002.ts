import { judge } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

export const CRN002: Rule = {
  id: 'CRN002',
  level: 'error',
  isScored: true,
  title: 'expression that can never fire',
  why: 'No day matches, so the job never runs.',
  fix: 'Name a day that exists, or `L` where the scheduler knows it.',
  bad: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 30 2 *', () => sendReminders())\n" },
  good: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 28 2 *', () => sendReminders())\n" },
  check: (project) =>
    project.all('schedule').flatMap(({ when, place, whenPlace, source }) => {
      if (when.kind !== 'cron') return []
      if (judge(when.expression, when.dialect).trigger?.never !== true) return []
      return [
        report(
          CRN002,
          whenPlace ?? place,
          `\`${when.expression}\` matches no day of any year, so ${source} never fires it.`,
        ),
      ]
    }),
}
