import { CTB003 } from '../../src/rules/ctb003.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CTB003, {
  bad: {
    'a percent sign among others': {
      'app.cron': '0 3 * * * /opt/a \\\\%H %M\n',
    },
    'a date in a file name': {
      crontab: '0 3 * * * tar cf /b/$(date +%F).tar /data\n',
    },
    'a table of cron.d': {
      'cron.d/a': '0 3 * * * root date +%H\n',
    },
  },
  good: {
    'a percent sign in a comment': {
      crontab: '# 1%\n0 3 * * * /opt/a\n',
    },
    'an escaped one': {
      crontab: '0 3 * * * date +\\%H\n',
    },
    'no percent sign': {
      crontab: '0 3 * * * /opt/a >> /var/log/a 2>&1\n',
    },
    'a variable of the file': {
      crontab: 'LIMIT=5%\n0 3 * * * /opt/a\n',
    },
    'a script that the crontab starts': {
      crontab: '0 3 * * * /opt/a.sh\n',
      'a.sh': 'date +%H\n',
    },
  },
})
