import { type Rule, report } from './rule.ts'

export const SHD002: Rule = {
  id: 'SHD002',
  level: 'info',
  isScored: false,
  title: 'schedule that starts when its module is imported',
  why: 'A test, a script or a second entry that imports the module starts the schedule as well.',
  fix: 'Register the schedule in a function that only the entry of the process calls.',
  bad: {
    'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => sendReminders())\n",
    'server.js': "import './jobs.js'\n",
  },
  good: {
    'jobs.js':
      "import cron from 'node-cron'\nexport function start() {\n  cron.schedule('0 * * * *', () => sendReminders())\n}\n",
    'server.js': "import { start } from './jobs.js'\nstart()\n",
  },
  check: (project) =>
    project.all('schedule').flatMap(({ isAtImport, place, handler }) => {
      if (isAtImport !== true || handler.effect === 'logs') return []
      return [report(SHD002, place, 'Every process that imports this module starts the schedule.')]
    }),
}
