import { type Rule, report } from './rule.ts'

export const FLT006: Rule = {
  id: 'FLT006',
  level: 'info',
  isScored: false,
  title: 'default coordinator of node-cron',
  why: 'Without a coordinator of its own, `distributed: true` only reads an environment variable.',
  fix: 'Pass `runCoordinator: coordinator(...)` from `cronce/node-cron`.',
  bad: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => sendReminders(), { distributed: true })\n",
  },
  good: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => sendReminders(), { distributed: true, runCoordinator })\n",
  },
  check: (project) =>
    project.all('schedule').flatMap(({ guard, place }) => {
      if (guard.kind !== 'designated' || guard.text !== 'distributed: true') return []
      return [
        report(
          FLT006,
          place,
          '`distributed: true` has no `runCoordinator`: an environment variable chooses the process that runs.',
        ),
      ]
    }),
}
