import { HND001 } from '../../src/rules/hnd001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(HND001, {
  bad: {
    'an async function inside': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => {\n  async () => { // <<\n    await send()\n  }\n})\n",
    },
    'a function that is returned': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => async () => { // <<\n  await send()\n})\n",
    },
    'a function in parentheses': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', function () {\n  (async () => { // <<\n    await send()\n  })\n})\n",
    },
  },
  good: {
    'a function that is called': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => {\n  (async () => { await send() })()\n})\n",
    },
    'a function declaration that is called': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => {\n  async function work() { await send() }\n  work()\n})\n",
    },
    'a callback': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => {\n  items.forEach(async (item) => { await send(item) })\n})\n",
    },
    'a wrapper that returns the handler': {
      'jobs.js':
        "import cron from 'node-cron'\nconst safe = (fn) => async () => { await fn() }\ncron.schedule('0 * * * *', safe(send))\n",
    },
    'a variable': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => {\n  const work = async () => send()\n  return work()\n})\n",
    },
  },
})
