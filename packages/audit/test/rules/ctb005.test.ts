import { CTB005 } from '../../src/rules/ctb005.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CTB005, {
  bad: {
    'a command of the shell': { 'cron.d/a': '0 3 * * * cd /opt && ./a\n' },
  },
  good: {
    'a crontab of a user': { 'crontabs/root': '0 3 * * * /opt/a\n' },
  },
})
