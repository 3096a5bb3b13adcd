import { APS001 } from '../../src/rules/aps001.ts'
import { checkRule } from '../check-rule.ts'

const IMPORTS = `from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
`
const STORED = `${IMPORTS}scheduler = BackgroundScheduler(jobstores={'default': SQLAlchemyJobStore(url=DB)})
`

checkRule(APS001, {
  bad: {
    'a job without an id': { 'jobs.py': `${STORED}scheduler.add_job(report, 'interval', hours=1) # <<\n` },
    'a store in a variable, a job in a function': {
      'jobs.py': `${IMPORTS}stores = {"default": SQLAlchemyJobStore(url=DB)}

class Jobs:
    def __init__(self):
        self.scheduler = BackgroundScheduler(jobstores=stores)

    def start(self):
        self.scheduler.add_job(self.report, trigger='cron', hour=3, id='report') # <<
`,
    },
    'a scheduler of another module': {
      'app/extensions.py': STORED,
      'app/jobs.py': `from app.extensions import scheduler

scheduler.add_job(report, 'cron', hour=3, id='report') # <<
`,
    },
    'a store of Django': {
      'jobs.py': `from apscheduler.schedulers.background import BackgroundScheduler
from django_apscheduler.jobstores import DjangoJobStore

def start():
    scheduler = BackgroundScheduler()
    scheduler.add_jobstore(DjangoJobStore(), "default")
    scheduler.add_job(report, 'interval', minutes=5, name='report') # <<
    scheduler.start()
`,
    },
    'a dictionary of dotted keys': {
      'jobs.py': `from apscheduler.schedulers.background import BackgroundScheduler

scheduler = BackgroundScheduler({'apscheduler.jobstores.default': {'type': 'sqlalchemy', 'url': DB}})
scheduler.add_job(report, 'interval', hours=1) # <<
`,
    },
  },
  good: {
    'jobs in memory': {
      'jobs.py': `${IMPORTS}scheduler = BackgroundScheduler()\nscheduler.add_job(report, 'interval', hours=1)\n`,
    },
    'a decorator, which replaces': {
      'jobs.py': `${STORED}@scheduler.scheduled_job('interval', hours=1)\ndef report():\n    pass\n`,
    },
    'another store than the persistent one': {
      'jobs.py': `${IMPORTS}scheduler = BackgroundScheduler(jobstores={'archive': SQLAlchemyJobStore(url=DB)})\nscheduler.add_job(report, 'interval', hours=1)\n`,
    },
    'a job that a request adds': {
      'jobs.py': `${STORED}
@app.post('/remind')
def remind(user):
    scheduler.add_job(send, 'cron', hour=3, args=[user])
`,
    },
    'a job per row': {
      'jobs.py': `${STORED}
def add(task):
    scheduler.add_job(run, 'interval', minutes=5, id=str(task.id))
`,
    },
    'a look before': {
      'jobs.py': `${STORED}
def start():
    if not scheduler.get_job('report'):
        scheduler.add_job(report, 'interval', hours=1, id='report')
`,
    },
    'a job that runs once': { 'jobs.py': `${STORED}scheduler.add_job(report, 'date', run_date=later)\n` },
    'arguments from elsewhere': { 'jobs.py': `${STORED}scheduler.add_job(report, 'interval', hours=1, **options)\n` },
    'an add_job of another library': { 'jobs.py': 'pool.add_job(report, hours=1)\nqueue.add_job(report)\n' },
    'a test': { 'tests/test_jobs.py': `${STORED}scheduler.add_job(report, 'interval', hours=1)\n` },
  },
})
