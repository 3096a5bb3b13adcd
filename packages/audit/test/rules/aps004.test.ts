import { APS004 } from '../../src/rules/aps004.ts'
import { checkRule } from '../check-rule.ts'

checkRule(APS004, {
  bad: {
    'an interval': {
      'a.py':
        "from apscheduler.schedulers.background import BackgroundScheduler\nscheduler = BackgroundScheduler()\nscheduler.add_job(a, 'interval', hours=1) # <<\n",
    },
    'the second job only': {
      'a.py':
        "from apscheduler.schedulers.background import BackgroundScheduler\nscheduler = BackgroundScheduler()\nscheduler.add_job(a, 'interval', hours=1, misfire_grace_time=60)\nscheduler.add_job(b, 'interval', hours=1) # <<\n",
    },
    'a job in a function': {
      'a.py':
        "from apscheduler.schedulers.background import BackgroundScheduler\nscheduler = BackgroundScheduler()\ndef start():\n    scheduler.add_job(a, 'cron', hour=3) # <<\n    scheduler.start()\n",
    },
  },
  good: {
    'a grace time of the job': {
      'a.py':
        "from apscheduler.schedulers.background import BackgroundScheduler\nscheduler = BackgroundScheduler()\nscheduler.add_job(a, 'interval', hours=1, misfire_grace_time=60)\n",
    },
    'defaults of the scheduler': {
      'a.py':
        "from apscheduler.schedulers.background import BackgroundScheduler\nscheduler = BackgroundScheduler(job_defaults={'misfire_grace_time': 60})\nscheduler.add_job(a, 'interval', hours=1)\n",
    },
    'a stated coalesce': {
      'a.py':
        "from apscheduler.schedulers.background import BackgroundScheduler\nscheduler = BackgroundScheduler()\nscheduler.add_job(a, 'interval', hours=1, coalesce=True)\n",
    },
    'options from elsewhere': {
      'a.py':
        "from apscheduler.schedulers.background import BackgroundScheduler\nscheduler = BackgroundScheduler()\nscheduler.add_job(a, 'interval', hours=1, **options)\n",
    },
    'a method of the same name': {
      'a.py': "queue.add_job(a, 'interval')\n",
    },
  },
})
