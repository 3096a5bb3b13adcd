import type { Rule } from './rule.ts'

export const APS004: Rule = {
  id: 'APS004',
  level: 'info',
  isScored: false,
  title: 'no misfire_grace_time',
  why: 'The default is one second: a fire that a busy process starts later than that is dropped.',
  fix: 'State `misfire_grace_time`, `coalesce` and `max_instances` in `job_defaults`.',
  bad: {
    'jobs.py': `from apscheduler.schedulers.background import BackgroundScheduler

scheduler = BackgroundScheduler()
scheduler.add_job(report, 'interval', hours=1, id='report', replace_existing=True)
`,
  },
  good: {
    'jobs.py': `from apscheduler.schedulers.background import BackgroundScheduler

scheduler = BackgroundScheduler(job_defaults={'misfire_grace_time': 300})
scheduler.add_job(report, 'interval', hours=1, id='report', replace_existing=True)
`,
  },
  check: (project) =>
    project.all('aps-job').flatMap(({ place, statesMisfire }) => {
      if (statesMisfire) return []
      const message =
        'Neither the scheduler nor the job states `misfire_grace_time`: fires more than a second late are dropped.'
      return [{ rule: 'APS004', level: 'info', place, message }]
    }),
}
