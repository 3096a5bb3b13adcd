import { DST002 } from '../../src/rules/dst002.ts'
import { checkRule } from '../check-rule.ts'

checkRule(DST002, {
  bad: {
    'three in the morning': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send()) // <<\n",
    },
    Mondays: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 9 * * 1', () => send()) // <<\n" },
    'working hours': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/5 9-17 * * *', () => send()) // <<\n",
    },
    'a rule of Nest': {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nexport class Jobs {\n  @Cron(CronExpression.EVERY_DAY_AT_MIDNIGHT) // <<\n  async run() {\n    await this.mailer.send()\n  }\n}\n",
    },
    'a RecurrenceRule': {
      'a.js':
        "import schedule from 'node-schedule'\nconst rule = new schedule.RecurrenceRule()\nrule.hour = 9\nrule.minute = 0\nschedule.scheduleJob(rule, () => send()) // <<\n",
    },
  },
  good: {
    'a zone': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { timezone: 'UTC' })\n",
    },
    'every hour': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n" },
    'every fourth hour': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 */4 * * *', () => send())\n" },
    'a zone of the configuration': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { timezone: config.zone })\n",
    },
    'options from elsewhere': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), options)\n",
    },
    'spread options': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { ...options })\n",
    },
    'a handler that only logs': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => console.log('tick'))\n",
    },
    'a positional zone': {
      'a.js': "import { CronJob } from 'cron'\nnew CronJob('0 3 * * *', () => send(), null, true, 'UTC')\n",
    },
  },
})
