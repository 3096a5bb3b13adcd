import { CRN001 } from '../../src/rules/crn001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CRN001, {
  bad: {
    'an hour of 25': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 25 * * *', () => send()) // <<\n" },
    'four fields': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 * *', () => send()) // <<\n" },
    'a word': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('every minute', () => send()) // <<\n" },
    'a minute of 60 from a constant': {
      'jobs.js':
        "import cron from 'node-cron'\nconst EXPRESSION = '60 * * * *'\ncron.schedule(EXPRESSION, () => send()) // <<\n",
    },
    'seven fields': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 0 * * * 2030', () => send()) // <<\n",
    },
  },
  good: {
    'six fields': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 3 * * *', () => send())\n" },
    names: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 * JAN MON-FRI', () => send())\n" },
    'Sunday as 7': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 * * 0-7', () => send())\n" },
    'a template with holes': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule(`${new Date().getMinutes()} * * * *`, () => send())\n",
    },
    'a value of the configuration': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule(config.schedule, () => send())\n",
    },
    'months from 0 in old versions of cron': {
      'a.js': "import { CronJob } from 'cron'\nnew CronJob('0 0 1 0 *', () => send())\n",
    },
    'a question mark': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 3 ? * MON', () => send())\n" },
  },
})
