import { MIS003 } from '../../src/rules/mis003.ts'
import { checkRule } from '../check-rule.ts'

checkRule(MIS003, {
  bad: {
    daily: { crontab: '0 3 * * * /usr/bin/backup\n' },
    weekly: { crontab: '0 3 * * 0 /usr/bin/backup\n' },
    'a file of cron.d': { 'etc/cron.d/backup': '0 3 * * * root /usr/bin/backup\n' },
  },
  good: {
    hourly: { crontab: '0 * * * * /usr/bin/backup\n' },
    'in a process': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send())\n" },
    'a comment': { crontab: '# 0 3 * * * /usr/bin/backup\n' },
    'twice a day': { crontab: '0 3,15 * * * /usr/bin/backup\n' },
    'every five minutes': { crontab: '*/5 * * * * /usr/bin/backup\n' },
  },
})
