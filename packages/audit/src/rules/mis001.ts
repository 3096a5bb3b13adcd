import { judge, shortestGap } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

/** A day, less the hour that a clock change takes. */
const RARE_MS = 23 * 3_600_000

export const MIS001: Rule = {
  id: 'MIS001',
  level: 'info',
  isScored: false,
  title: 'rare job in a process',
  why: 'If the process is down at the time, for example during a deploy, the run is lost until the next day.',
  fix: 'Keep due times in a store that catches up, as cronce does.',
  bad: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => sendReminders())\n" },
  good: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => sendReminders())\n" },
  check: (project) =>
    project.all('schedule').flatMap(({ runner, when, place, handler }) => {
      if (runner !== 'process' || when.kind !== 'cron' || handler.effect === 'logs') return []
      const { trigger } = judge(when.expression, when.dialect)
      const gap = trigger === null ? null : shortestGap(trigger)
      if (gap === null || gap < RARE_MS) return []
      return [report(MIS001, place, 'It fires once a day or less: if the process is down then, nothing runs it later.')]
    }),
}
