import { CTB004 } from '../../src/rules/ctb004.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CTB004, {
  bad: {
    'a file of cron.d': { 'cron.d/a': 'A=b\n0 3 * * * root /opt/a' },
  },
  good: {
    'a comment at the end': { crontab: '0 3 * * * /opt/a\n# end' },
  },
})
