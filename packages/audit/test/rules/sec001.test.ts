import { SEC001 } from '../../src/rules/sec001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(SEC001, {
  bad: {
    'a token of a request': { crontab: '0 3 * * * API_TOKEN=abc123 /opt/a\n' },
  },
  good: {
    'a variable': { crontab: '0 3 * * * API_TOKEN=$TOKEN /opt/a\n' },
  },
})
