import { CRN002 } from '../../src/rules/crn002.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CRN002, {
  bad: {
    '30 February': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 30 2 *', () => send()) // <<\n" },
    '31 April': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 31 4 *', () => send()) // <<\n" },
    '31 June, 6 fields': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 0 31 6 *', () => send()) // <<\n",
    },
  },
  good: {
    '29 February': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 29 2 *', () => send())\n" },
    '31 of any month': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 31 * *', () => send())\n" },
    '30 February or a Monday': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 30 2 1', () => send())\n",
    },
    daily: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 * * *', () => send())\n" },
    unknown: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule(config.schedule, () => send())\n" },
  },
})
