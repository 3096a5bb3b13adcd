import { judge } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

export const CRN001: Rule = {
  id: 'CRN001',
  level: 'error',
  isScored: true,
  title: 'invalid expression',
  why: 'The job never runs, or the program throws when it starts.',
  fix: 'Write an expression that this scheduler accepts.',
  bad: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 25 * * *', () => sendReminders())\n" },
  good: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 5 * * *', () => sendReminders())\n" },
  check: (project) =>
    project.all('schedule').flatMap(({ when, place, whenPlace, source }) => {
      if (when.kind === 'invalid')
        return [report(CRN001, whenPlace ?? place, `\`${when.text}\` is not valid for ${source}: ${when.reason}.`)]
      if (when.kind !== 'cron') return []
      const { problem } = judge(when.expression, when.dialect)
      if (problem === null) return []
      return [
        report(
          CRN001,
          whenPlace ?? place,
          `\`${when.expression}\` is not valid for ${source}: ${problem.replace(/\.$/, '')}.`,
        ),
      ]
    }),
}
