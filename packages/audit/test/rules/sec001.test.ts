import { SEC001 } from '../../src/rules/sec001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(SEC001, {
  bad: {
    'a token of a request': {
      crontab: '0 3 * * * API_TOKEN=abc123 /opt/a\n',
    },
    'a secret of another name': {
      crontab: '0 3 * * * CLIENT_SECRET="abc" /opt/a\n',
    },
    'a key in the middle': {
      'cron.d/a': '0 3 * * * root env APIKEY=abc /opt/a\n',
    },
  },
  good: {
    'a variable': {
      crontab: '0 3 * * * API_TOKEN=$TOKEN /opt/a\n',
    },
    'a placeholder': {
      crontab: '0 3 * * * API_TOKEN=<token> /opt/a\n',
    },
    'a template': {
      crontab: '0 3 * * * API_TOKEN={{ token }} /opt/a\n',
    },
    'a command': {
      crontab: '0 3 * * * API_TOKEN=$(cat /run/secrets/a) /opt/a\n',
    },
    'a file': {
      crontab: '0 3 * * * PGPASSFILE=/etc/pgpass /opt/a\n',
    },
  },
})
