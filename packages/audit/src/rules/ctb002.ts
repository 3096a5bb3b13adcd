import type { Rule } from './rule.ts'

/** A period at which runs of several minutes overlap. */
const SHORT_MINUTES = 5

export const CTB002: Rule = {
  id: 'CTB002',
  level: 'warning',
  isScored: true,
  title: 'short period without a lock',
  why: 'cron starts the command again while the last run is still busy, so slow runs pile up.',
  fix: 'Put `flock -n /run/lock/NAME` before the command.',
  bad: { crontab: '*/2 * * * * /opt/app/sync.sh\n' },
  good: { crontab: '*/2 * * * * flock -n /run/lock/sync /opt/app/sync.sh\n' },
  check: (project) =>
    project.all('crontab-line').flatMap(({ place, expression, minutes, isLocked }) => {
      if (isLocked || minutes === null || minutes > SHORT_MINUTES) return []
      const apart = minutes === 1 ? 'a minute' : `${minutes} minutes`
      const message = `\`${expression}\` starts runs as little as ${apart} apart, and no lock prevents an overlap.`
      return [{ rule: 'CTB002', level: 'warning', place, message }]
    }),
}
