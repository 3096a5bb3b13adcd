import { type Rule, report } from './rule.ts'

export const MIS005: Rule = {
  id: 'MIS005',
  level: 'warning',
  isScored: false,
  title: 'schedule that is created while requests are served',
  why: 'It lives in the memory of one instance: a restart loses it, and other instances do not know it.',
  fix: 'Keep the due time in a store, for example with `schedules.create()` of cronce.',
  bad: {
    'a.ts':
      "import schedule from 'node-schedule'\nexport function remind(req, res) {\n  schedule.scheduleJob(req.body.cron, () => send(req.body.to))\n  res.end()\n}\n",
  },
  good: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => sendReminders())\n" },
  check: (project) =>
    project.all('schedule').flatMap(({ isDynamic, runner, place, whenPlace }) => {
      if (!isDynamic || runner !== 'process' || whenPlace !== undefined) return []
      return [report(MIS005, place, 'It is created at run time and kept in memory: a restart loses it.')]
    }),
}
