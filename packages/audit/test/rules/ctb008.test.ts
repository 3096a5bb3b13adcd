import { CTB008 } from '../../src/rules/ctb008.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CTB008, {
  bad: {
    'lines far apart': {
      crontab: '@daily /opt/a\n# b\n@hourly /opt/b\n@daily /opt/a\n',
    },
    'more spaces between the fields': {
      crontab: '0 3 * * * /opt/a\n0  3 * * * /opt/a\n',
    },
    'a table of cron.d': {
      'cron.d/a': '0 3 * * * root /opt/a\n0 3 * * * root /opt/a\n',
    },
  },
  good: {
    'two files': {
      'cron.d/a': '@daily root /opt/a\n',
      'cron.d/b': '@daily root /opt/a\n',
    },
    'two times': {
      crontab: '0 3 * * * /opt/a\n0 15 * * * /opt/a\n',
    },
    'two arguments': {
      crontab: '0 3 * * * /opt/a x\n0 3 * * * /opt/a y\n',
    },
    'two users': {
      'cron.d/a': '0 3 * * * root /opt/a\n0 3 * * * app /opt/a\n',
    },
    'a line that is commented out': {
      crontab: '0 3 * * * /opt/a\n# 0 3 * * * /opt/a\n',
    },
  },
})
