import { CFG001 } from '../../src/rules/cfg001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CFG001, {
  bad: {
    'two names of node-cron': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', a, { name: 'report' })\ncron.schedule('0 4 * * *', b, { name: 'report' }) // <<\n",
    },
    'two methods of Nest': {
      'a.service.ts':
        "import { Cron } from '@nestjs/schedule'\nclass A {\n  @Cron('0 3 * * *', { name: 'report' })\n  async a() { await send() }\n  @Cron('0 4 * * *', { name: 'report' }) // <<\n  async b() { await send() }\n}\n",
    },
    'two jobs of a scheduler': {
      'a.py':
        "from apscheduler.schedulers.background import BackgroundScheduler\nscheduler = BackgroundScheduler()\nscheduler.add_job(a, 'interval', hours=1, id='report')\nscheduler.add_job(b, 'interval', hours=2, id='report') # <<\n",
    },
  },
  good: {
    'two names': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', a, { name: 'a' })\ncron.schedule('0 4 * * *', b, { name: 'b' })\n",
    },
    'no names': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', a)\ncron.schedule('0 4 * * *', b)\n",
    },
    'two packages': {
      'a/package.json': '{}\n',
      'b/package.json': '{}\n',
      'a/a.js': "await queue.upsertJobScheduler('report', { pattern: '0 3 * * *', tz: 'UTC' })\n",
      'b/b.js': "await queue.upsertJobScheduler('report', { pattern: '0 3 * * *', tz: 'UTC' })\n",
    },
    'two schedulers': {
      'a.py':
        "from apscheduler.schedulers.background import BackgroundScheduler\nfirst = BackgroundScheduler()\nsecond = BackgroundScheduler()\nfirst.add_job(a, 'interval', hours=1, id='report')\nsecond.add_job(b, 'interval', hours=2, id='report')\n",
    },
    'two workflows': {
      '.github/workflows/a.yml': "name: report\non:\n  schedule:\n    - cron: '0 3 * * *'\n",
      '.github/workflows/b.yml': "name: report\non:\n  schedule:\n    - cron: '0 4 * * *'\n",
    },
  },
})
