import { type Rule, report } from './rule.ts'

export const FLT003: Rule = {
  id: 'FLT003',
  level: 'info',
  isScored: true,
  title: 'one designated runner',
  why: 'The chosen process is a single point of failure, and two hosts with the same setting still run twice.',
  fix: 'Let every instance register the schedule and let a coordinator or cronce choose one per fire.',
  bad: {
    'jobs.js':
      "import cron from 'node-cron'\nif (process.env.NODE_APP_INSTANCE === '0') {\n  cron.schedule('0 * * * *', () => sendReminders())\n}\n",
  },
  good: {
    'jobs.js':
      "import cron from 'node-cron'\nif (process.env.NODE_ENV === 'production') {\n  cron.schedule('0 * * * *', () => sendReminders())\n}\n",
  },
  check: (project) =>
    project.all('schedule').flatMap(({ runner, guard, when }) => {
      if (runner !== 'process' || guard.kind !== 'designated' || when.kind === 'once') return []
      return [report(FLT003, guard.place, `\`${guard.text}\` chooses the one process that runs the schedule.`)]
    }),
}
