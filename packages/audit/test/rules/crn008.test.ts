import { CRN008 } from '../../src/rules/crn008.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CRN008, {
  bad: {
    'every minute': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => send()) // <<\n" },
    'every ten seconds': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/10 * * * * *', () => send()) // <<\n",
    },
    'every minute of an hour': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('* 9 * * *', () => send()) // <<\n",
    },
  },
  good: {
    'every two minutes': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/2 * * * *', () => send())\n" },
    hourly: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n" },
    daily: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send())\n" },
    unknown: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule(config.a, () => send())\n" },
    invalid: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('60 * * * *', () => send())\n" },
  },
})
