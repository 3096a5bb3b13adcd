import type { Rule } from './rule.ts'

export const CTB001: Rule = {
  id: 'CTB001',
  level: 'warning',
  isScored: true,
  title: 'script appends to the crontab without a check',
  why: 'Each time the script runs, the crontab gets the same line again, and the job runs once more per fire.',
  fix: 'Filter the old line out first: `(crontab -l | grep -vF "$JOB"; echo "$JOB") | crontab -`.',
  bad: { 'install.sh': '#!/bin/sh\n(crontab -l; echo "0 3 * * * /opt/backup.sh") | crontab -\n' },
  good: {
    'install.sh': '#!/bin/sh\n(crontab -l | grep -vF backup.sh; echo "0 3 * * * /opt/backup.sh") | crontab -\n',
  },
  check: (project) =>
    project.all('crontab-append').flatMap(({ place, isChecked, target }) => {
      if (isChecked) return []
      const message = `Every run of this script appends to ${target}, whether or not the line is there already.`
      return [{ rule: 'CTB001', level: 'warning', place, message }]
    }),
}
