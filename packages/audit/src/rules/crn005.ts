import { judge } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

/** A value, a list or a step: a range such as `9-17` is usually meant as written. */
const CHOSEN = /^(?:\d+(?:,\d+)*|\*\/(?!1$)\d+|\d+(?:-\d+)?\/(?!1$)\d+)$/

function starUnder([second, minute, hour, day, , weekday]: readonly string[]): {
  finer: string
  coarser: string
} | null {
  if (second === '*' && CHOSEN.test(minute!)) return { finer: 'second', coarser: 'minute' }
  if (minute === '*' && CHOSEN.test(hour!)) return { finer: 'minute', coarser: 'hour' }
  if (minute === '*' && hour === '*' && (/^\d+(?:,\d+)*$/.test(day!) || /^\w{1,3}$/.test(weekday!)))
    return { finer: 'minute', coarser: 'day' }
  return null
}

export const CRN005: Rule = {
  id: 'CRN005',
  level: 'warning',
  isScored: true,
  title: 'finer field is a star under a restricted coarser one',
  why: '`* */4 * * *` fires 60 times in every fourth hour, not once.',
  fix: 'Write `0` in the finer field.',
  bad: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('* */4 * * *', () => sendReminders())\n" },
  good: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 */4 * * *', () => sendReminders())\n" },
  check: (project) =>
    project.all('schedule').flatMap(({ when, place, whenPlace, source }) => {
      if (when.kind !== 'cron') return []
      const { fields, problem } = judge(when.expression, when.dialect)
      const found = problem === null && fields.length > 0 ? starUnder(fields) : null
      if (found === null) return []
      return [
        report(
          CRN005,
          whenPlace ?? place,
          `\`${when.expression}\` (${source}) fires at every ${found.finer} of the chosen ${found.coarser}s.`,
        ),
      ]
    }),
}
