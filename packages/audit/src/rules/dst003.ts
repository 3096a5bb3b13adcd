import { isZone } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

export const DST003: Rule = {
  id: 'DST003',
  level: 'error',
  isScored: false,
  title: 'unknown time zone',
  why: 'The scheduler throws, or takes UTC or the zone of the host instead.',
  fix: 'Use a name of the IANA database, such as `Europe/Berlin`.',
  bad: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => sendReminders(), { timezone: 'Europe/Berln' })\n",
  },
  good: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => sendReminders(), { timezone: 'europe/berlin' })\n",
  },
  check: (project) => {
    // One line of a crontab states the zone of all that follow.
    const reported = new Set<string>()
    return project.all('schedule').flatMap(({ zone, zoneGroup, place }) => {
      if (zone.kind !== 'stated' || isZone(zone.name)) return []
      const stated = `${zone.name} ${zoneGroup}`
      if (zoneGroup !== null && reported.has(stated)) return []
      reported.add(stated)
      return [report(DST003, place, `\`${zone.name}\` is not the name of a time zone.`)]
    })
  },
}
