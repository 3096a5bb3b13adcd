import { FLT003 } from '../../src/rules/flt003.ts'
import { checkRule } from '../check-rule.ts'

checkRule(FLT003, {
  bad: {
    'a role that keeps other processes away': {
      'jobs.js':
        "import cron from 'node-cron'\nexport function start() {\n  if (process.env.NODE_ROLE === 'secondary') return // <<\n  cron.schedule('0 * * * *', () => send())\n}\n",
    },
    'an index of PM2': {
      'jobs.js':
        "import cron from 'node-cron'\nif (process.env.NODE_APP_INSTANCE === '0') { // <<\n  cron.schedule('0 * * * *', () => send())\n}\n",
    },
    'the primary of a cluster': {
      'jobs.js':
        "import cron from 'node-cron'\nimport cluster from 'node:cluster'\nif (cluster.isPrimary) { // <<\n  cron.schedule('0 * * * *', () => send())\n}\n",
    },
    'a role, with an early return': {
      'jobs.js':
        "import cron from 'node-cron'\nexport function start() {\n  if (process.env.ROLE !== 'scheduler') return // <<\n  cron.schedule('0 * * * *', () => send())\n}\n",
    },
    'a switch that is off unless it is set': {
      'jobs.js':
        "import cron from 'node-cron'\nconst isEnabled = process.env.RUN_CRON === 'true'\nif (isEnabled) { // <<\n  cron.schedule('0 * * * *', () => send())\n}\n",
    },
    'a condition around the only call, in another file': {
      'jobs.js':
        "import cron from 'node-cron'\nexport function start() {\n  cron.schedule('0 * * * *', () => send())\n}\n",
      'main.js': "import { start } from './jobs.js'\nif (process.env.IS_WORKER === '1') start() // <<\n",
    },
    'the option disabled of Nest': {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nexport class Jobs {\n  @Cron('0 * * * *', { disabled: process.env.ROLE !== 'scheduler' }) // <<\n  async run() {\n    await this.mailer.send()\n  }\n}\n",
    },
  },
  good: {
    NODE_ENV: {
      'jobs.js':
        "import cron from 'node-cron'\nif (process.env.NODE_ENV !== 'test') {\n  cron.schedule('0 * * * *', () => send())\n}\n",
    },
    'a switch that is on by default': {
      'jobs.js':
        "import cron from 'node-cron'\nif (process.env.CRON_ENABLED !== 'false') {\n  cron.schedule('0 * * * *', () => send())\n}\n",
    },
    'a switch that turns off': {
      'jobs.js':
        "import cron from 'node-cron'\nexport function start() {\n  if (process.env.DISABLE_CRON) return\n  cron.schedule('0 * * * *', () => send())\n}\n",
    },
    'a setting that is missing': {
      'jobs.js':
        "import cron from 'node-cron'\nif (process.env.SMTP_URL) {\n  cron.schedule('0 * * * *', () => send())\n}\n",
    },
    'no condition': { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n" },
    'an instance id in a log far below': {
      'a.js':
        "import cron from 'node-cron'\nimport { work } from './work.js'\ncron.schedule('0 * * * *', () => work())\n",
      'work.js':
        "import { note } from './note.js'\nexport async function work() {\n  for (const item of items) {\n    if (item.ready) note(item)\n  }\n}\n",
      'note.js':
        'export function note(text) {\n  if (process.env.INSTANCE_ID) write(process.env.INSTANCE_ID + text)\n}\n',
    },
  },
})
