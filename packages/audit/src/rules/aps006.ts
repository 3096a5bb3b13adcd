import type { Rule } from './rule.ts'

const MODULE = `from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore

scheduler = BackgroundScheduler(jobstores={'default': SQLAlchemyJobStore(url='sqlite:///jobs.db')})
`

export const APS006: Rule = {
  id: 'APS006',
  level: 'warning',
  isScored: true,
  title: 'job store on SQLite',
  why: 'The file is copied with the image or shared over a network, and each copy runs every job.',
  fix: 'Use a job store on a database server, or keep the jobs in memory.',
  bad: { 'jobs.py': MODULE },
  good: { 'jobs.py': MODULE.replace('sqlite:///jobs.db', 'postgresql://db/jobs') },
  check: (project) =>
    project.all('aps-scheduler').flatMap(({ sqlite }) =>
      sqlite.map((place) => {
        const message =
          'The job store is an SQLite file: every copy of it runs every job, and it cannot be shared safely.'
        return { rule: 'APS006', level: 'warning', place, message }
      }),
    ),
}
