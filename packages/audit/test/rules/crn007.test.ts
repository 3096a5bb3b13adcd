import { CRN007 } from '../../src/rules/crn007.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CRN007, {
  bad: {
    'five at one': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 1 * * *', () => send())\ncron.schedule('0 1 * * *', () => send())\ncron.schedule('0 1 * * *', () => send())\ncron.schedule('0 1 * * *', () => send())\ncron.schedule('0 1 * * *', () => send())\n",
    },
    'five at the full hour': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\ncron.schedule('0 * * * *', () => send())\ncron.schedule('0 * * * *', () => send())\ncron.schedule('0 * * * *', () => send())\ncron.schedule('0 * * * *', () => send())\n",
    },
    'six at two, with others': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 2 * * *', () => send())\ncron.schedule('0 2 * * *', () => send())\ncron.schedule('0 2 * * *', () => send())\ncron.schedule('0 2 * * *', () => send())\ncron.schedule('0 2 * * *', () => send())\ncron.schedule('0 2 * * *', () => send())\ncron.schedule('5 3 * * *', () => send())\n",
    },
  },
  good: {
    four: {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 1 * * *', () => send())\ncron.schedule('0 1 * * *', () => send())\ncron.schedule('0 1 * * *', () => send())\ncron.schedule('0 1 * * *', () => send())\n",
    },
    'different hours': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 0 * * *', () => send())\ncron.schedule('0 1 * * *', () => send())\ncron.schedule('0 2 * * *', () => send())\ncron.schedule('0 3 * * *', () => send())\ncron.schedule('0 4 * * *', () => send())\n",
    },
    'different minutes': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('1 1 * * *', () => send())\ncron.schedule('2 1 * * *', () => send())\ncron.schedule('3 1 * * *', () => send())\ncron.schedule('4 1 * * *', () => send())\ncron.schedule('5 1 * * *', () => send())\n",
    },
    'every ten minutes': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('*/10 * * * *', () => send())\ncron.schedule('*/10 * * * *', () => send())\ncron.schedule('*/10 * * * *', () => send())\ncron.schedule('*/10 * * * *', () => send())\ncron.schedule('*/10 * * * *', () => send())\n",
    },
    unknown: {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule(config.a, () => send())\ncron.schedule(config.a, () => send())\ncron.schedule(config.a, () => send())\ncron.schedule(config.a, () => send())\ncron.schedule(config.a, () => send())\n",
    },
  },
})
