import { CRN004 } from '../../src/rules/crn004.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CRN004, {
  bad: {
    '45 minutes': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/45 * * * *', () => send()) // <<\n" },
    '5 hours': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 */5 * * *', () => send()) // <<\n" },
    '60 minutes': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/60 * * * *', () => send()) // <<\n" },
    '7 seconds': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/7 * * * * *', () => send()) // <<\n" },
    '24 hours': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 */24 * * *', () => send()) // <<\n" },
  },
  good: {
    '15 minutes': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/15 * * * *', () => send())\n" },
    'a list': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0,7,15,22 * * * *', () => send())\n" },
    'a range on purpose': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 8-20/5 * * *', () => send())\n",
    },
    days: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 */10 * *', () => send())\n" },
    'every 5 hours of Nest': {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nexport class Jobs {\n  @Cron(CronExpression.EVERY_5_HOURS)\n  async run() {}\n}\n",
    },
    'a step of one': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/1 * * * *', () => send())\n" },
  },
})
