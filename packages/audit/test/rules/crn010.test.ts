import { CRN010 } from '../../src/rules/crn010.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CRN010, {
  bad: {
    'another number': {
      'jobs.js': "import cron from 'node-cron'\n// every 5 minutes\ncron.schedule('*/10 * * * *', () => send())\n",
    },
    'another unit': {
      'jobs.js': "import cron from 'node-cron'\n// runs every hour\ncron.schedule('*/30 * * * *', () => send())\n",
    },
    'a comment behind it': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('* */4 * * *', () => send()) // every 2 minutes\n",
    },
  },
  good: {
    'the same': {
      'jobs.js': "import cron from 'node-cron'\n// every 10 minutes\ncron.schedule('*/10 * * * *', () => send())\n",
    },
    'a step that leaves a shorter gap at the end of the hour': {
      'jobs.js': "import cron from 'node-cron'\n// every 7 minutes\ncron.schedule('*/7 * * * *', () => send())\n",
    },
    'an hour as 60 minutes': {
      'jobs.js': "import cron from 'node-cron'\n// every 60 minutes\ncron.schedule('0 * * * *', () => send())\n",
    },
    'no period': {
      'jobs.js': "import cron from 'node-cron'\n// send the reminders\ncron.schedule('0 3 * * *', () => send())\n",
    },
    'no comment': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send())\n" },
    'a comment two lines above': {
      'jobs.js': "import cron from 'node-cron'\n// every 5 minutes\n\ncron.schedule('0 3 * * *', () => send())\n",
    },
  },
})
