import { judge } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

const OPEN = /^(?:\*|\?|\*\/1)$/

export const CRN003: Rule = {
  id: 'CRN003',
  level: 'info',
  isScored: true,
  title: 'day of month and day of week both restricted',
  why: 'Some schedulers fire when either matches, some when both match.',
  fix: 'Restrict one of them and test the other in the job.',
  bad: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 13 * 5', () => sendReminders())\n" },
  good: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 13 * *', () => sendReminders())\n" },
  check: (project) =>
    project.all('schedule').flatMap(({ when, place, whenPlace, source }) => {
      if (when.kind !== 'cron') return []
      const { fields } = judge(when.expression, when.dialect)
      if (fields.length === 0 || OPEN.test(fields[3]!) || OPEN.test(fields[5]!)) return []
      return [
        report(
          CRN003,
          whenPlace ?? place,
          `\`${when.expression}\` restricts day of month and day of week: ${source} may mean either or both.`,
        ),
      ]
    }),
}
