import { APS003 } from '../../src/rules/aps003.ts'
import { checkRule } from '../check-rule.ts'

const IMPORT = 'from apscheduler.schedulers.background import BackgroundScheduler\n'

checkRule(APS003, {
  bad: {
    'defaults in a variable': {
      'jobs.py': `${IMPORT}job_defaults = {\n    'coalesce': False, # <<\n    'max_instances': 3\n}\nscheduler = BackgroundScheduler(job_defaults=job_defaults)\n`,
    },
    'a dotted key with a text': {
      'jobs.py': `${IMPORT}scheduler = BackgroundScheduler({\n    'apscheduler.job_defaults.coalesce': 'false', # <<\n})\n`,
    },
    'one job': {
      'jobs.py': `${IMPORT}scheduler = BackgroundScheduler()\nscheduler.add_job(a, 'interval', hours=1, coalesce=False) # <<\n`,
    },
    'settings of Flask': {
      'config.py': "class Config:\n    SCHEDULER_JOB_DEFAULTS = {'coalesce': False, 'max_instances': 3} # <<\n",
    },
    configure: {
      'jobs.py': `${IMPORT}scheduler = BackgroundScheduler()\nscheduler.configure(job_defaults=dict(coalesce=False)) # <<\n`,
    },
  },
  good: {
    'a dotted key that is on': {
      'jobs.py': `${IMPORT}scheduler = BackgroundScheduler({'apscheduler.job_defaults.coalesce': 'true'})\n`,
    },
    'nothing stated': { 'jobs.py': `${IMPORT}scheduler = BackgroundScheduler()\n` },
    'a computed value': { 'jobs.py': `${IMPORT}scheduler = BackgroundScheduler(job_defaults={'coalesce': flag})\n` },
    'coalesce of something else': { 'sql.py': `${IMPORT}options = {'coalesce': False}\nquery(coalesce=False)\n` },
    'one job that is on': {
      'jobs.py': `${IMPORT}scheduler = BackgroundScheduler()\nscheduler.add_job(a, 'interval', hours=1, coalesce=True)\n`,
    },
  },
})
