import { CTB003 } from '../../src/rules/ctb003.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CTB003, {
  bad: {
    'a percent sign among others': { 'app.cron': '0 3 * * * /opt/a \\\\%H %M\n' },
  },
  good: {
    'a percent sign in a comment': { crontab: '# 1%\n0 3 * * * /opt/a\n' },
  },
})
