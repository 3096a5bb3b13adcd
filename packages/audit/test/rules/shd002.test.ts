import { SHD002 } from '../../src/rules/shd002.ts'
import { checkRule } from '../check-rule.ts'

checkRule(SHD002, {
  bad: {
    'a required module': {
      'jobs.js': "const cron = require('node-cron')\ncron.schedule('0 * * * *', () => send()) // <<\n",
      'server.js': "require('./jobs')\n",
    },
    'a loop of the module': {
      'jobs.js':
        "import cron from 'node-cron'\nfor (const job of jobs) {\n  cron.schedule('0 * * * *', () => job.run()) // <<\n}\n",
      'server.js': "import './jobs.js'\n",
    },
    'an exported task': {
      'jobs.js': "import cron from 'node-cron'\nexport const task = cron.schedule('0 * * * *', () => send()) // <<\n",
      'server.js': "import { task } from './jobs.js'\n",
    },
  },
  good: {
    'the entry of the process': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
    },
    'a function': {
      'jobs.js':
        "import cron from 'node-cron'\nexport const start = () => {\n  cron.schedule('0 * * * *', () => send())\n}\n",
      'server.js': "import { start } from './jobs.js'\nstart()\n",
    },
    'a decorator': {
      'a.service.ts':
        "import { Cron } from '@nestjs/schedule'\nexport class A {\n  @Cron('0 * * * *')\n  async run() { await send() }\n}\n",
      'a.module.ts': "import { A } from './a.service'\n",
    },
    'a schedule of a queue': {
      'a.js': "await queue.upsertJobScheduler('report', { pattern: '0 3 * * *', tz: 'UTC' })\n",
      'b.js': "import './a.js'\n",
    },
    'a job that only logs': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => console.log('alive'))\n",
      'server.js': "import './jobs.js'\n",
    },
  },
})
