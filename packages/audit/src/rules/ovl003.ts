import { type Rule, report } from './rule.ts'

export const OVL003: Rule = {
  id: 'OVL003',
  level: 'warning',
  isScored: false,
  title: 'promise that the handler does not wait for',
  why: 'The scheduler believes that the run has ended, so overlap protection and error handling miss the work.',
  fix: 'Return the promise, or await it.',
  bad: {
    'jobs.js':
      "import cron from 'node-cron'\nasync function sendReminders() {\n  await mail()\n}\ncron.schedule('0 * * * *', () => {\n  sendReminders()\n})\n",
  },
  good: {
    'jobs.js':
      "import cron from 'node-cron'\nasync function sendReminders() {\n  await mail()\n}\ncron.schedule('0 * * * *', () => sendReminders())\n",
  },
  check: (project) =>
    project.all('schedule').flatMap(({ handler }) => {
      const place = handler.flow?.floating ?? null
      if (place === null || handler.effect === 'logs') return []
      return [report(OVL003, place, 'Nothing waits for this promise: the run ends before the work does.')]
    }),
}
