import { MIS001 } from '../../src/rules/mis001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(MIS001, {
  bad: {
    daily: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send()) // <<\n" },
    weekly: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * 1', () => send()) // <<\n" },
    monthly: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 1 * *', () => send()) // <<\n" },
  },
  good: {
    hourly: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n" },
    'twice a day': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3,15 * * *', () => send())\n" },
    'a queue': { 'a.ts': "await queue.upsertJobScheduler('a', { pattern: '0 3 * * *' })\n" },
    'a crontab': { crontab: '0 3 * * * /usr/bin/backup\n' },
    'a handler that only logs': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => console.log('tick'))\n",
    },
  },
})
