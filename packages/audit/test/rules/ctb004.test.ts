import { CTB004 } from '../../src/rules/ctb004.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CTB004, {
  bad: {
    'a file of cron.d': {
      'cron.d/a': 'A=b\n0 3 * * * root /opt/a',
    },
    'the last of two lines': {
      crontab: '0 3 * * * /opt/a\n0 4 * * * /opt/b',
    },
    'a macro': {
      crontab: '@daily /opt/a',
    },
  },
  good: {
    'a comment at the end': {
      crontab: '0 3 * * * /opt/a\n# end',
    },
    'an empty line at the end': {
      crontab: '0 3 * * * /opt/a\n\n',
    },
    'spaces at the end': {
      crontab: '0 3 * * * /opt/a\n   ',
    },
    'a variable at the end': {
      crontab: '0 3 * * * /opt/a\nA=b',
    },
    'a file without jobs': {
      crontab: '# nothing',
    },
  },
})
