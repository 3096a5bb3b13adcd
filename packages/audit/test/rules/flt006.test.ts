import { FLT006 } from '../../src/rules/flt006.ts'
import { checkRule } from '../check-rule.ts'

checkRule(FLT006, {
  bad: {
    'distributed alone': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send(), { distributed: true }) // <<\n",
    },
    'distributed with a zone': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { distributed: true, timezone: 'UTC' }) // <<\n",
    },
    'distributed with a name': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { distributed: true, name: 'a' }) // <<\n",
    },
  },
  good: {
    'a coordinator': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send(), { distributed: true, runCoordinator })\n",
    },
    'no option': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send(), { timezone: 'UTC' })\n",
    },
    'no options': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n" },
    'another library': {
      'a.ts': "import { Cron } from 'croner'\nnew Cron('0 * * * *', { distributed: true }, () => send())\n",
    },
    'an environment variable': {
      'jobs.js':
        "import cron from 'node-cron'\nif (process.env.ROLE === 'cron') cron.schedule('0 * * * *', () => send())\n",
    },
  },
})
