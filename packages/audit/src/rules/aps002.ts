import type { Rule } from './rule.ts'

const MODULE = `from apscheduler.schedulers.background import BackgroundScheduler

scheduler = BackgroundScheduler()
scheduler.add_job(report, 'interval', hours=1, id='report')
`

export const APS002: Rule = {
  id: 'APS002',
  level: 'info',
  isScored: true,
  title: 'add_job without replace_existing',
  why: 'Harmless while jobs are kept in memory; with a persistent store each restart adds a copy.',
  fix: 'Give the job an `id` and pass `replace_existing=True`.',
  bad: { 'jobs.py': MODULE },
  good: { 'jobs.py': MODULE.replace("id='report'", "id='report', replace_existing=True") },
  check: (project) =>
    project.all('aps-job').flatMap(({ place, store, statesReplaceExisting, isAddedAtStart }) => {
      // APS001 is about the others.
      if (statesReplaceExisting || (store === 'persistent' && isAddedAtStart)) return []
      const message = '`replace_existing` is not stated: with a persistent store, each restart would add a copy.'
      return [{ rule: 'APS002', level: 'info', place, message }]
    }),
}
