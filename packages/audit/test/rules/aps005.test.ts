import { APS005 } from '../../src/rules/aps005.ts'
import { checkRule } from '../check-rule.ts'

const IMPORTS = `from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.jobstores.redis import RedisJobStore
`
const STORE = "jobstores={'default': RedisJobStore()}"

checkRule(APS005, {
  bad: {
    'a factory': {
      'jobs.py': `${IMPORTS}def create_app():\n    scheduler = BackgroundScheduler(${STORE}) # <<\n    scheduler.start()\n`,
    },
    'a class': {
      'jobs.py': `${IMPORTS}class Jobs:\n    def __init__(self):\n        self.scheduler = BackgroundScheduler(${STORE}) # <<\n`,
    },
    'a reloader check alone': {
      'jobs.py': `${IMPORTS}import os\nif os.environ.get('WERKZEUG_RUN_MAIN') == 'true':\n    scheduler = BackgroundScheduler(${STORE}) # <<\n    scheduler.start()\n`,
    },
    'a store that is added': {
      'jobs.py': `${IMPORTS}scheduler = BackgroundScheduler() # <<\nscheduler.add_jobstore('sqlalchemy', url=DB)\nscheduler.start()\n`,
    },
    'no start in this module': { 'jobs.py': `${IMPORTS}scheduler = BackgroundScheduler(${STORE}) # <<\n` },
  },
  good: {
    'a store in memory': { 'jobs.py': `${IMPORTS}scheduler = BackgroundScheduler()\nscheduler.start()\n` },
    'a function that only __main__ calls': {
      'jobs.py': `${IMPORTS}def main():\n    scheduler = BackgroundScheduler(${STORE})\n    scheduler.start()\n\nif __name__ == '__main__':\n    main()\n`,
    },
    'an asynchronous main': {
      'jobs.py': `${IMPORTS}import asyncio\nasync def main():\n    scheduler = BackgroundScheduler(${STORE})\n    scheduler.start()\n\nif __name__ == '__main__':\n    asyncio.run(main())\n`,
    },
    'a lock on a file': {
      'jobs.py': `${IMPORTS}import fcntl\nf = open('/tmp/lock', 'w')\nfcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\nscheduler = BackgroundScheduler(${STORE})\nscheduler.start()\n`,
    },
    'an advisory lock': {
      'jobs.py': `${IMPORTS}def start():\n    if not db.scalar('select pg_try_advisory_lock(1)'):\n        return\n    scheduler = BackgroundScheduler(${STORE})\n    scheduler.start()\n`,
    },
    'a command of Django': {
      'app/management/commands/runjobs.py': `${IMPORTS}class Command(BaseCommand):\n    def handle(self):\n        scheduler = BackgroundScheduler(${STORE})\n        scheduler.start()\n`,
    },
    'a store in memory by name': {
      'jobs.py': `${IMPORTS}from apscheduler.jobstores.memory import MemoryJobStore\nscheduler = BackgroundScheduler(jobstores={'default': MemoryJobStore()})\nscheduler.start()\n`,
    },
  },
})
