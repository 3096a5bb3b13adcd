import { CRN005 } from '../../src/rules/crn005.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CRN005, {
  bad: {
    'every fourth hour': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('* */4 * * *', () => send()) // <<\n",
    },
    'one hour': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('* 9 * * *', () => send()) // <<\n" },
    'seconds under minutes': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('* */5 * * * *', () => send()) // <<\n",
    },
    'a list of hours': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('* 9,17 * * *', () => send()) // <<\n",
    },
    'a day of the month': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('* * 1 * *', () => send()) // <<\n",
    },
    'a RecurrenceRule with an hour': {
      'a.js':
        "import schedule from 'node-schedule'\nconst rule = new schedule.RecurrenceRule()\nrule.hour = 9\nschedule.scheduleJob(rule, () => send()) // <<\n",
    },
  },
  good: {
    'minute zero': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 */4 * * *', () => send())\n" },
    'every minute': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => send())\n" },
    'every minute of working hours': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('* 9-17 * * *', () => send())\n",
    },
    'every minute of working days': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('* * * * 1-5', () => send())\n",
    },
    'every second': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('* * * * * *', () => send())\n" },
    'every hour on Mondays': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * 1', () => send())\n" },
  },
})
