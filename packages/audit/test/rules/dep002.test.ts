import { DEP002 } from '../../src/rules/dep002.ts'
import { checkRule } from '../check-rule.ts'

checkRule(DEP002, {
  bad: {
    'beat in a shell': {
      Dockerfile: 'FROM x\nCMD celery -A app beat\n',
    },
    'cron beside a log': {
      Dockerfile: 'FROM x\nCMD cron; tail -f /var/log/cron.log\n',
    },
    'an entrypoint': {
      Dockerfile: 'FROM x\nENTRYPOINT supercronic /etc/crontab\n',
    },
  },
  good: {
    'exec in a shell': {
      Dockerfile: 'FROM x\nCMD exec celery -A app beat\n',
    },
    'a server': {
      Dockerfile: 'FROM x\nCMD node server.js\n',
    },
    'a worker': {
      Dockerfile: 'FROM x\nCMD celery -A app worker\n',
    },
    'an earlier stage': {
      Dockerfile: 'FROM x AS a\nCMD crond -f\nFROM y\nCMD ["crond", "-f"]\n',
    },
    'exec behind a preparation': {
      Dockerfile: 'FROM x\nCMD ./prepare && exec crond -f\n',
    },
  },
})
