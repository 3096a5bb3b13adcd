import { type Rule, report } from './rule.ts'

export const CTB003: Rule = {
  id: 'CTB003',
  level: 'warning',
  isScored: false,
  title: 'percent sign cuts the command',
  why: 'cron ends the command at the first `%` and passes the rest as its input.',
  fix: 'Write `\\%`, or put the command into a script.',
  bad: { crontab: '0 3 * * * tar czf /backup/$(date +%F).tgz /data\n' },
  good: { crontab: '0 3 * * * tar czf /backup/$(date +\\%F).tgz /data\n' },
  check: (project) =>
    project.all('crontab-line').flatMap(({ place, command }) => {
      if (!/(?:^|[^\\])%/.test(command) || !/(?:^|\/)[\w.-]*cron[\w.-]*|cron\.d\//.test(place.path)) return []
      return [report(CTB003, place, 'The command has a `%` without a backslash: cron cuts it there.')]
    }),
}
