import { CTB005 } from '../../src/rules/ctb005.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CTB005, {
  bad: {
    'a command of the shell': {
      'cron.d/a': '0 3 * * * cd /opt && ./a\n',
    },
    'a script': {
      'etc/cron.d/a': '0 3 * * * /opt/a.sh\n',
    },
    'an interpreter': {
      'cron.d/a': '@daily python3 -m app\n',
    },
  },
  good: {
    'a crontab of a user': {
      'crontabs/root': '0 3 * * * /opt/a\n',
    },
    'a user': {
      'cron.d/a': '0 3 * * * root /opt/a\n',
    },
    'a user with a dash': {
      'cron.d/a': '0 3 * * * www-data cd /opt && ./a\n',
    },
    'a crontab of the repository': {
      crontab: '0 3 * * * /opt/a\n',
    },
    'a variable': {
      'cron.d/a': 'PATH=/usr/bin\n0 3 * * * app /opt/a\n',
    },
  },
})
