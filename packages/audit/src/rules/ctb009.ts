import { type Rule, report } from './rule.ts'

export const CTB009: Rule = {
  id: 'CTB009',
  level: 'warning',
  isScored: false,
  title: 'script replaces the whole crontab',
  why: 'Every other line of that crontab is lost.',
  fix: 'Keep the other lines: `(crontab -l | grep -vF "$JOB"; echo "$JOB") | crontab -`, or use a file in /etc/cron.d.',
  bad: { 'install.sh': '#!/bin/sh\necho "0 3 * * * /opt/backup.sh" | crontab -\n' },
  good: {
    'install.sh': '#!/bin/sh\n(crontab -l | grep -vF backup.sh; echo "0 3 * * * /opt/backup.sh") | crontab -\n',
  },
  check: (project) =>
    project
      .all('crontab-overwrite')
      .map(({ place }) => report(CTB009, place, 'This replaces the crontab: lines that others have added are lost.')),
}
