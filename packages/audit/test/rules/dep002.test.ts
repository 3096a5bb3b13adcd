import { DEP002 } from '../../src/rules/dep002.ts'
import { checkRule } from '../check-rule.ts'

checkRule(DEP002, {
  bad: {
    'beat in a shell': { Dockerfile: 'FROM x\nCMD celery -A app beat\n' },
  },
  good: {
    'exec in a shell': { Dockerfile: 'FROM x\nCMD exec celery -A app beat\n' },
    'a server': { Dockerfile: 'FROM x\nCMD node server.js\n' },
  },
})
