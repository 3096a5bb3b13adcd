import { judge } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

/** Fewer jobs than this are no load. */
const MANY = 5

export const CRN007: Rule = {
  id: 'CRN007',
  level: 'info',
  isScored: false,
  title: 'many jobs at the full hour',
  why: 'All of them start in the same second, and load the database together.',
  fix: 'Spread them over the hour, for example at minute 7, 19 and 31.',
  bad: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('0 1 * * *', () => send1())\ncron.schedule('0 1 * * *', () => send1())\ncron.schedule('0 1 * * *', () => send1())\ncron.schedule('0 1 * * *', () => send1())\ncron.schedule('0 1 * * *', () => send1())\n",
  },
  good: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 1 * * *', () => sendReminders())\n" },
  check: (project) => {
    const full = project
      .all('schedule')
      .filter(({ when }) => when.kind === 'cron' && judge(when.expression, when.dialect).fields[1] === '0')
    const groups = Map.groupBy(full, ({ when }) =>
      when.kind === 'cron' ? (judge(when.expression, when.dialect).fields[2] ?? '') : '',
    )
    return [...groups].flatMap(([hour, schedules]) => {
      if (schedules.length < MANY) return []
      const at = /^\d+$/.test(hour) ? `at ${hour.padStart(2, '0')}:00` : 'at the full hour'
      return [report(CRN007, schedules[0]!.place, `${schedules.length} schedules start ${at}.`)]
    })
  },
}
