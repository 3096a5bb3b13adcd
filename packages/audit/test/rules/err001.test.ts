import { ERR001 } from '../../src/rules/err001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(ERR001, {
  bad: {
    'node-cron 3': {
      'package.json': '{"dependencies": {"node-cron": "^3.0.3"}}\n',
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', async () => { // <<\n  await send()\n})\n",
    },
    'cron 3': {
      'package.json': '{"dependencies": {"cron": "3.1.7"}}\n',
      'jobs.js': "import { CronJob } from 'cron'\nnew CronJob('0 * * * *', async () => { // <<\n  await send()\n})\n",
    },
    'an await after the try block': {
      'package.json': '{"dependencies": {"node-schedule": "2"}}\n',
      'jobs.js':
        "import schedule from 'node-schedule'\nschedule.scheduleJob('0 * * * *', async () => { // <<\n  try {\n    await send()\n  } catch {}\n  await log()\n})\n",
    },
    'a try block without catch': {
      'package.json': '{"dependencies": {"node-schedule": "2"}}\n',
      'jobs.js':
        "import schedule from 'node-schedule'\nschedule.scheduleJob('0 * * * *', async () => { // <<\n  try {\n    await send()\n  } finally {\n    close()\n  }\n})\n",
    },
  },
  good: {
    'node-cron 4, which logs it': {
      'package.json': '{"dependencies": {"node-cron": "^4.2.1"}}\n',
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', async () => {\n  await send()\n})\n",
    },
    'a version that is not stated': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', async () => {\n  await send()\n})\n",
    },
    'Nest, which catches it': {
      'a.service.ts':
        "import { Cron } from '@nestjs/schedule'\nclass A {\n  @Cron('0 * * * *')\n  async run() {\n    await this.mail.send()\n  }\n}\n",
    },
    'a promise with catch': {
      'package.json': '{"dependencies": {"node-schedule": "2"}}\n',
      'jobs.js':
        "import schedule from 'node-schedule'\nschedule.scheduleJob('0 * * * *', async () => {\n  await send().catch(report)\n})\n",
    },
    'a function that catches everything': {
      'package.json': '{"dependencies": {"node-schedule": "2"}}\n',
      'jobs.js':
        "import schedule from 'node-schedule'\nasync function work() {\n  try {\n    await send()\n  } catch (error) {\n    report(error)\n  }\n}\nschedule.scheduleJob('0 * * * *', async () => {\n  await work()\n})\n",
    },
    'a handler of the process': {
      'package.json': '{"dependencies": {"node-schedule": "2"}}\n',
      'jobs.js':
        "import schedule from 'node-schedule'\nschedule.scheduleJob('0 * * * *', async () => {\n  await send()\n})\n",
      'index.js': "process.on('unhandledRejection', report)\n",
    },
  },
})
