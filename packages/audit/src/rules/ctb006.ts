import { type Rule, report } from './rule.ts'

export const CTB006: Rule = {
  id: 'CTB006',
  level: 'warning',
  isScored: false,
  title: 'one file in cron.d and as a crontab',
  why: 'cron reads both. The two forms differ in the user column, so each line runs twice or fails in one of them.',
  fix: 'Keep the file in /etc/cron.d, with a user column, and delete the call of `crontab`.',
  bad: { Dockerfile: 'FROM debian\nCOPY jobs /etc/cron.d/jobs\nRUN crontab /etc/cron.d/jobs\nCMD ["cron", "-f"]\n' },
  good: { Dockerfile: 'FROM debian\nCOPY jobs /etc/cron.d/jobs\nCMD ["cron", "-f"]\n' },
  check: (project) =>
    project
      .all('crontab-installed-twice')
      .map(({ place, file }) =>
        report(CTB006, place, `${file} is a table of cron.d, and this makes it a crontab too.`),
      ),
}
