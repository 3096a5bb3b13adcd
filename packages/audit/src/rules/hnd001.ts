import { type Rule, report } from './rule.ts'

export const HND001: Rule = {
  id: 'HND001',
  level: 'error',
  isScored: true,
  title: 'handler that does nothing',
  why: 'The handler creates a function and never calls it: the job does nothing, silently.',
  fix: 'Call the function, or pass it as the handler itself.',
  bad: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => {\n  async () => {\n    await sendReminders()\n  }\n})\n",
  },
  good: {
    'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', async () => {\n  await sendReminders()\n})\n",
  },
  check: (project) =>
    project.all('schedule').flatMap(({ handler }) => {
      if (handler.dropped === null) return []
      return [report(HND001, handler.dropped, 'This function is created and never called, so the job does nothing.')]
    }),
}
