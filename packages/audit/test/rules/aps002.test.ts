import { APS002 } from '../../src/rules/aps002.ts'
import { checkRule } from '../check-rule.ts'

const SCHEDULER = `from apscheduler.schedulers.asyncio import AsyncIOScheduler
scheduler = AsyncIOScheduler()
`

checkRule(APS002, {
  bad: {
    'a call over several lines': {
      'jobs.py': `${SCHEDULER}scheduler.add_job( # <<\n    report,\n    "interval",\n    seconds=30,\n)\n`,
    },
    'a job that runs once': { 'jobs.py': `${SCHEDULER}scheduler.add_job(report, 'date', run_date=later) # <<\n` },
    'a scheduler of a module that is not here': {
      'jobs.py': `from app.extensions import scheduler\nscheduler.add_job(report, 'cron', hour=3) # <<\n`,
    },
    'Flask-APScheduler': {
      'app.py': `from flask_apscheduler import APScheduler\nscheduler = APScheduler()\nscheduler.add_job(id='a', func=report, trigger='interval', seconds=30) # <<\n`,
    },
    'an imported module': {
      'jobs.py': `import apscheduler.schedulers.background as aps\nsched = aps.BackgroundScheduler()\nsched.add_job(report, 'interval', hours=1) # <<\n`,
    },
  },
  good: {
    'replace_existing=False on purpose': {
      'jobs.py': `${SCHEDULER}scheduler.add_job(report, id=now(), replace_existing=False)\n`,
    },
    'a decorator': { 'jobs.py': `${SCHEDULER}@scheduler.scheduled_job('interval', hours=1)\ndef a():\n    pass\n` },
    'a job of another library': { 'jobs.py': 'executor.add_job(report)\nself.pool.add_job(report, "interval")\n' },
    'a comment': { 'jobs.py': `${SCHEDULER}# scheduler.add_job(report, 'interval', hours=1)\n` },
    'a text': { 'jobs.py': `${SCHEDULER}HELP = "scheduler.add_job(report, 'interval', hours=1)"\n` },
    'options from elsewhere': { 'jobs.py': `${SCHEDULER}scheduler.add_job(report, **options)\n` },
  },
})
