import { type Rule, report } from './rule.ts'

export const CTB005: Rule = {
  id: 'CTB005',
  level: 'warning',
  isScored: false,
  title: 'user column missing',
  why: 'Files in /etc/cron.d need a user before the command; without one the first word of the command is taken for it.',
  fix: 'Put the user before the command, for example `root`.',
  bad: { 'etc/cron.d/backup': '0 3 * * * /opt/backup\n' },
  good: { 'etc/cron.d/backup': '0 3 * * * root /opt/backup\n' },
  check: (project) =>
    project.all('crontab-line').flatMap(({ place, command }) => {
      const isSystem = /(?:^|\/)cron\.d\//.test(place.path)
      const [first = ''] = command.split(/\s/)
      // A user name has no slash, and is not a common command.
      if (!isSystem || !/[/.]|^(?:cd|sh|bash|php|python3?|node|curl|wget|echo|test|\[)$/.test(first)) return []
      return [report(CTB005, place, `\`${first}\` stands where /etc/cron.d expects a user: the line never runs.`)]
    }),
}
