import { MIS005 } from '../../src/rules/mis005.ts'
import { checkRule } from '../check-rule.ts'

checkRule(MIS005, {
  bad: {
    'a request': {
      'a.js':
        "import schedule from 'node-schedule'\nexport function remind(req, res) {\n  schedule.scheduleJob(req.body.rule, () => send()) // <<\n}\n",
    },
    'a row': {
      'a.js':
        "import schedule from 'node-schedule'\nexport function add(row) {\n  schedule.scheduleJob(row.name, row.cron, () => send(row)) // <<\n}\n",
    },
    'a method': {
      'a.ts':
        "import { CronJob } from 'cron'\nexport class Jobs {\n  add(name: string, cronTime: string) {\n    const job = new CronJob(cronTime, () => send(name)) // <<\n    job.start()\n  }\n}\n",
    },
  },
  good: {
    'at start': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 3 * * *', () => send())\n" },
    'a wrapper with literal callers': {
      'a.ts':
        "import cron from 'node-cron'\nfunction every(expression, work) {\n  cron.schedule(expression, work)\n}\nevery('0 * * * *', send)\n",
    },
    'a loop over constants': {
      'a.ts':
        "import cron from 'node-cron'\nfor (const job of [{ cron: '0 * * * *' }]) cron.schedule(job.cron, () => send())\n",
    },
    'a queue': { 'a.ts': 'export const add = (row) => queue.upsertJobScheduler(row.id, { pattern: row.cron })\n' },
    'a function without parameters': {
      'a.ts':
        "import cron from 'node-cron'\nexport function start() {\n  cron.schedule('0 * * * *', () => send())\n}\nstart()\n",
    },
  },
})
