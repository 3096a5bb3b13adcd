import { DST003 } from '../../src/rules/dst003.ts'
import { checkRule } from '../check-rule.ts'

checkRule(DST003, {
  bad: {
    'a misspelt zone': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { timezone: 'Europe/Berln' }) // <<\n",
    },
    'an abbreviation that is not one': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { timezone: 'XYZT' }) // <<\n",
    },
    'a zone of a crontab, once for all its lines': {
      crontab: 'CRON_TZ=Europe/Berln\n0 3 * * * /opt/a # <<\n0 4 * * * /opt/b\n',
    },
    'a city alone': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { timezone: 'Berlin' }) // <<\n",
    },
  },
  good: {
    'a zone': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { timezone: 'Europe/Berlin' })\n",
    },
    'small letters': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { timezone: 'america/new_york' })\n",
    },
    UTC: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { timezone: 'UTC' })\n" },
    'an offset': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { timezone: '+05:30' })\n",
    },
    'the configuration': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send(), { timezone: config.zone })\n",
    },
  },
})
