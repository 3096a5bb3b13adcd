import { CRN003 } from '../../src/rules/crn003.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CRN003, {
  bad: {
    'Friday the 13th': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 13 * 5', () => send()) // <<\n" },
    'the first Monday, as some write it': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 9 1-7 * 1', () => send()) // <<\n",
    },
    '6 fields': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 0 1 * 1', () => send()) // <<\n" },
  },
  good: {
    'day of month': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 1 * *', () => send())\n" },
    'day of week': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 * * 1', () => send())\n" },
    'a question mark': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 0 ? * 1', () => send())\n" },
    'both open': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 * * *', () => send())\n" },
    'a macro': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('@weekly', () => send())\n" },
  },
})
