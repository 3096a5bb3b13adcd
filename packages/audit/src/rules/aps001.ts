import type { Rule } from './rule.ts'

const MODULE = `from apscheduler.schedulers.background import BackgroundScheduler

scheduler = BackgroundScheduler()
scheduler.add_jobstore('redis')
scheduler.add_job(report, 'interval', hours=1, id='report')
`

export const APS001: Rule = {
  id: 'APS001',
  level: 'error',
  isScored: true,
  title: 'job added to a persistent store at every start',
  why: 'Each restart stores a further copy of the job, or fails with ConflictingIdError if it has an id.',
  fix: 'Give the job an `id` and pass `replace_existing=True`.',
  bad: { 'jobs.py': MODULE },
  good: { 'jobs.py': MODULE.replace("id='report'", "id='report', replace_existing=True") },
  check: (project) =>
    project.all('aps-job').flatMap(({ place, id, store, statesReplaceExisting, isAddedAtStart }) => {
      if (statesReplaceExisting || store !== 'persistent' || !isAddedAtStart) return []
      const effect = id === null ? 'each start stores a further copy' : `the second start fails, since \`${id}\` exists`
      const message = `The job goes to a persistent store without \`replace_existing=True\`: ${effect}.`
      return [{ rule: 'APS001', level: 'error', place, message }]
    }),
}
