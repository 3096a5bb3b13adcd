import { judge, namesHours } from '../cron/judge.ts'
import type { When } from '../facts/schedule.ts'
import { type Rule, report } from './rule.ts'

function isFixedHour(when: When): boolean {
  if (when.kind === 'calendar') return when.isFixedHour
  if (when.kind !== 'cron') return false
  const judged = judge(when.expression, when.dialect)
  return judged.problem === null && namesHours(judged)
}

export const DST002: Rule = {
  id: 'DST002',
  level: 'info',
  isScored: true,
  title: 'fixed hour without a zone',
  why: 'The time of day depends on the zone of the host.',
  fix: "State the zone, for example `timezone: 'UTC'`; in a crontab, the line `CRON_TZ=UTC` above, where cron knows it (cronie).",
  bad: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => sendReminders())\n" },
  good: {
    'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => sendReminders(), { timezone: 'UTC' })\n",
  },
  check: (project) => {
    const reported = new Set<string>()
    return project.all('schedule').flatMap(({ when, zone, place, zoneGroup, handler }) => {
      if (zone.kind !== 'none' || !isFixedHour(when) || handler.effect === 'logs') return []
      if (zoneGroup !== null && reported.has(zoneGroup)) return []
      if (zoneGroup !== null) reported.add(zoneGroup)
      return [
        report(DST002, place, 'It names an hour of the day and no zone: the zone of the host decides when it runs.'),
      ]
    })
  },
}
