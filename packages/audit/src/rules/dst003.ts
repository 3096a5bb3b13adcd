import { isZone } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

export const DST003: Rule = {
  id: 'DST003',
  level: 'error',
  isScored: false,
  title: 'unknown time zone',
  why: 'The scheduler throws, or takes UTC instead.',
  fix: 'Use a name of the IANA database, such as `Europe/Berlin`.',
  bad: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => sendReminders(), { timezone: 'Europe/Berln' })\n",
  },
  good: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => sendReminders(), { timezone: 'europe/berlin' })\n",
  },
  check: (project) =>
    project.all('schedule').flatMap(({ zone, place }) => {
      if (zone.kind !== 'stated' || isZone(zone.name)) return []
      return [report(DST003, place, `\`${zone.name}\` is not the name of a time zone.`)]
    }),
}
