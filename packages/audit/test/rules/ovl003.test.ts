import { OVL003 } from '../../src/rules/ovl003.ts'
import { checkRule } from '../check-rule.ts'

checkRule(OVL003, {
  bad: {
    'an async function that is called as a statement': {
      'jobs.js':
        "import cron from 'node-cron'\nasync function work() {\n  await send()\n}\ncron.schedule('0 * * * *', () => {\n  work() // <<\n})\n",
    },
    'an async function of another module': {
      'jobs.js':
        "import cron from 'node-cron'\nimport { work } from './work.js'\ncron.schedule('0 * * * *', async () => {\n  work() // <<\n})\n",
      'work.js': 'export async function work() {\n  await send()\n}\n',
    },
    'an async function that is called where it is written': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => {\n  ;(async () => { // <<\n    await send()\n  })()\n})\n",
    },
  },
  good: {
    'an awaited call': {
      'jobs.js':
        "import cron from 'node-cron'\nasync function work() {\n  await send()\n}\ncron.schedule('0 * * * *', async () => {\n  await work()\n})\n",
    },
    'a returned call': {
      'jobs.js':
        "import cron from 'node-cron'\nasync function work() {\n  await send()\n}\ncron.schedule('0 * * * *', () => {\n  return work()\n})\n",
    },
    'an arrow that is the call': {
      'jobs.js':
        "import cron from 'node-cron'\nasync function work() {\n  await send()\n}\ncron.schedule('0 * * * *', () => work())\n",
    },
    'a promise with a handler': {
      'jobs.js':
        "import cron from 'node-cron'\nasync function work() {\n  await send()\n}\ncron.schedule('0 * * * *', () => {\n  work().catch(report)\n})\n",
    },
    'a promise that is dropped on purpose': {
      'jobs.js':
        "import cron from 'node-cron'\nasync function work() {\n  await send()\n}\ncron.schedule('0 * * * *', () => {\n  void work()\n})\n",
    },
    'a function that is not async': {
      'jobs.js':
        "import cron from 'node-cron'\nfunction work() {\n  count++\n}\ncron.schedule('0 * * * *', () => {\n  work()\n})\n",
    },
    'a function that is not known': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => {\n  unknown()\n})\n",
    },
  },
})
