import type { Rule } from './rule.ts'

export const APS003: Rule = {
  id: 'APS003',
  level: 'warning',
  isScored: true,
  title: 'coalesce is switched off',
  why: 'After an outage APScheduler runs the job once for every fire that was missed.',
  fix: 'Set `coalesce=True`.',
  bad: {
    'jobs.py': `from apscheduler.schedulers.background import BackgroundScheduler

scheduler = BackgroundScheduler(job_defaults={'coalesce': False})
`,
  },
  good: {
    'jobs.py': `from apscheduler.schedulers.background import BackgroundScheduler

scheduler = BackgroundScheduler(job_defaults={'coalesce': True})
`,
  },
  check: (project) => {
    const places = [
      ...project.all('aps-scheduler').flatMap(({ coalesceOff }) => coalesceOff),
      ...project.all('aps-job').flatMap(({ coalesceOff }) => coalesceOff ?? []),
    ]
    const message = 'coalesce is off: after an outage the job runs once for every fire that was missed.'
    return [...new Map(places.map((place) => [`${place.path}:${place.line}`, place])).values()].map((place) => ({
      rule: 'APS003',
      level: 'warning',
      place,
      message,
    }))
  },
}
