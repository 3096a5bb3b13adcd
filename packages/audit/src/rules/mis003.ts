import { judge, shortestGap } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

/** A day, less the hour that a clock change takes. */
const RARE_MS = 23 * 3_600_000

export const MIS003: Rule = {
  id: 'MIS003',
  level: 'info',
  isScored: false,
  title: 'rare job in a crontab',
  why: 'If the machine is off at the time, the run is lost until the next day.',
  fix: 'Use a systemd timer with `Persistent=true`, anacron, or `cronce exec`.',
  bad: { crontab: '0 3 * * * /usr/bin/backup\n' },
  good: { crontab: '0 * * * * /usr/bin/backup\n' },
  check: (project) =>
    project.all('schedule').flatMap(({ source, when, place }) => {
      if (source !== 'crontab' || when.kind !== 'cron') return []
      const { trigger } = judge(when.expression, when.dialect)
      const gap = trigger === null ? null : shortestGap(trigger)
      if (gap === null || gap < RARE_MS) return []
      return [report(MIS003, place, 'It fires once a day or less: if the machine is off then, nothing runs it later.')]
    }),
}
