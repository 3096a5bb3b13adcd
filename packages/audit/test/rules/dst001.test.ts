import { DST001 } from '../../src/rules/dst001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(DST001, {
  bad: {
    'half past two in Berlin': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('30 2 * * *', () => send(), { timezone: 'Europe/Berlin' }) // <<\n",
    },
    'half past one in New York, which comes twice': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('30 1 * * *', () => send(), { timezone: 'America/New_York' }) // <<\n",
    },
    'a Sunday': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('30 2 * * 0', () => send(), { timezone: 'America/New_York' }) // <<\n",
    },
    'midnight in Santiago': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('30 0 * * 0', () => send(), { timezone: 'America/Santiago' }) // <<\n",
    },
  },
  good: {
    'four in Berlin': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 4 * * *', () => send(), { timezone: 'Europe/Berlin' })\n",
    },
    'half past two in UTC': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('30 2 * * *', () => send(), { timezone: 'UTC' })\n",
    },
    'a zone without clock changes': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('30 2 * * *', () => send(), { timezone: 'Asia/Kolkata' })\n",
    },
    'no zone': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('30 2 * * *', () => send())\n" },
    'every hour': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('30 * * * *', () => send(), { timezone: 'Europe/Berlin' })\n",
    },
    Mondays: {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('30 2 * * 1', () => send(), { timezone: 'Europe/Berlin' })\n",
    },
  },
})
