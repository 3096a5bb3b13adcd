import { CTB008 } from '../../src/rules/ctb008.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CTB008, {
  bad: {
    'lines far apart': { crontab: '@daily /opt/a\n# b\n@hourly /opt/b\n@daily /opt/a\n' },
  },
  good: {
    'two files': { 'cron.d/a': '@daily root /opt/a\n', 'cron.d/b': '@daily root /opt/a\n' },
  },
})
