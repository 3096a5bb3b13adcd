import type { Rule } from './rule.ts'

const MODULE = `from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.jobstores.redis import RedisJobStore

scheduler = BackgroundScheduler(jobstores={'default': RedisJobStore()})
`

export const APS005: Rule = {
  id: 'APS005',
  level: 'warning',
  isScored: true,
  title: 'several schedulers can open one persistent store',
  why: 'Every process that imports this module starts a scheduler, and each of them runs every stored job.',
  fix: 'Start the scheduler in one process of its own, or behind a lock that all instances share.',
  bad: { 'jobs.py': `${MODULE}scheduler.start()\n` },
  good: { 'jobs.py': `${MODULE}if __name__ == '__main__':\n    scheduler.start()\n` },
  check: (project) =>
    project.all('aps-scheduler').flatMap(({ place, persistent, isSingle }) => {
      if (isSingle || persistent.length === 0) return []
      const message =
        'Nothing keeps a second process from opening this persistent job store: both run every stored job.'
      return [{ rule: 'APS005', level: 'warning', place, message }]
    }),
}
