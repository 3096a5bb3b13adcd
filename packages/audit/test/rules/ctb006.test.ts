import { CTB006 } from '../../src/rules/ctb006.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CTB006, {
  bad: {
    'two instructions': {
      Dockerfile: 'FROM debian\nCOPY a /etc/cron.d/a\nRUN crontab /etc/cron.d/a # <<\nCMD ["cron", "-f"]\n',
    },
    'one instruction for all': {
      Dockerfile:
        'FROM debian\nCOPY a /etc/cron.d/a\nRUN chmod 0644 /etc/cron.d/a && crontab /etc/cron.d/a # <<\nCMD ["cron", "-f"]\n',
    },
    'the crontab of a user': {
      Dockerfile: 'FROM debian\nADD a /etc/cron.d/a\nRUN crontab -u www-data /etc/cron.d/a # <<\nCMD ["cron", "-f"]\n',
    },
  },
  good: {
    'only cron.d': {
      Dockerfile: 'FROM debian\nCOPY a /etc/cron.d/a\nRUN chmod 0644 /etc/cron.d/a\nCMD ["cron", "-f"]\n',
    },
    'only a crontab': {
      Dockerfile: 'FROM debian\nCOPY a /tmp/a\nRUN crontab /tmp/a\nCMD ["cron", "-f"]\n',
    },
    'a file that is moved away': {
      Dockerfile: 'FROM debian\nCOPY a /app/crontab\nRUN crontab /app/crontab && rm /app/crontab\nCMD ["cron", "-f"]\n',
    },
    'a comment': {
      Dockerfile: 'FROM debian\nCOPY a /etc/cron.d/a\n# RUN crontab /etc/cron.d/a\nCMD ["cron", "-f"]\n',
    },
    'an earlier stage': {
      Dockerfile:
        'FROM debian AS base\nCOPY a /etc/cron.d/a\nRUN crontab /etc/cron.d/a\nFROM alpine\nCMD ["crond", "-f"]\n',
    },
  },
})
