import { APS006 } from '../../src/rules/aps006.ts'
import { checkRule } from '../check-rule.ts'

const IMPORTS = `from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
`

checkRule(APS006, {
  bad: {
    'a url that is made an SQLite one': {
      'a.py':
        "from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore\nfrom apscheduler.schedulers.asyncio import AsyncIOScheduler\nurl = settings.database_url.replace('sqlite+aiosqlite', 'sqlite')\nscheduler = AsyncIOScheduler(jobstores={'default': SQLAlchemyJobStore(url=url)})\n",
    },
    'a dotted key': {
      'jobs.py': `${IMPORTS}scheduler = BackgroundScheduler({\n    'apscheduler.jobstores.default': {\n        'type': 'sqlalchemy',\n        'url': 'sqlite:///jobs.sqlite' # <<\n    }\n})\n`,
    },
    'an environment variable with a default': {
      'jobs.py': `${IMPORTS}import os\nurl = os.getenv('JOBS_URL', 'sqlite:///jobs.db')\nscheduler = BackgroundScheduler(jobstores={\n    'default': SQLAlchemyJobStore(url=url) # <<\n})\n`,
    },
    'a store that is added': {
      'jobs.py': `${IMPORTS}scheduler = BackgroundScheduler()\nscheduler.add_jobstore('sqlalchemy', url='sqlite:///jobs.db') # <<\n`,
    },
    'a text with holes': {
      'jobs.py': `${IMPORTS}scheduler = BackgroundScheduler(jobstores={'default': SQLAlchemyJobStore(url=f'sqlite:///{path}')}) # <<\n`,
    },
    'an engine of its own': {
      'jobs.py': `${IMPORTS}engine = create_engine('sqlite:///app.db')\nstores = {'default': SQLAlchemyJobStore(engine=engine)} # <<\nscheduler = BackgroundScheduler(jobstores=stores)\n`,
    },
    'a store for the scheduler of another module': {
      'jobs.py': `${IMPORTS}from app import scheduler\nscheduler.add_jobstore(SQLAlchemyJobStore(url='sqlite:///a.db'), alias='a') # <<\n`,
    },
    'settings of Flask': {
      'config.py': `${IMPORTS}class Config:\n    SCHEDULER_JOBSTORES = {"default": SQLAlchemyJobStore(url="sqlite:///flask.db")} # <<\n`,
    },
  },
  good: {
    'a database of the application': {
      'app.py': `${IMPORTS}SQLALCHEMY_DATABASE_URI = 'sqlite:///app.db'\nscheduler = BackgroundScheduler()\n`,
    },
    'SQLite in memory': {
      'jobs.py': `${IMPORTS}scheduler = BackgroundScheduler(jobstores={'default': SQLAlchemyJobStore(url='sqlite:///:memory:')})\n`,
    },
    'a server': {
      'jobs.py': `${IMPORTS}scheduler = BackgroundScheduler(jobstores={'default': SQLAlchemyJobStore(url='mysql://db/jobs')})\n`,
    },
    'a url from elsewhere': {
      'jobs.py': `${IMPORTS}scheduler = BackgroundScheduler(jobstores={'default': SQLAlchemyJobStore(url=settings.DB)})\n`,
    },
    'an engine of the application': {
      'jobs.py': `${IMPORTS}scheduler = BackgroundScheduler(jobstores={'default': SQLAlchemyJobStore(engine=db.engine)})\n`,
    },
    'a file that only speaks of it': { 'jobs.py': `${IMPORTS}# SQLAlchemyJobStore(url='sqlite:///jobs.db')\n` },
  },
})
