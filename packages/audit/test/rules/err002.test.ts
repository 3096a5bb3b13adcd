import { ERR002 } from '../../src/rules/err002.ts'
import { checkRule } from '../check-rule.ts'

checkRule(ERR002, {
  bad: {
    'fetch with a method': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => {\n  await fetch(url, { method: 'POST' }) // <<\n}, { noOverlap: true })\n",
    },
    axios: {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => {\n  await axios.get('https://example.com') // <<\n}, { noOverlap: true })\n",
    },
    'a function that the handler calls': {
      'jobs.js':
        "import cron from 'node-cron'\nasync function sync() {\n  await fetch('https://example.com') // <<\n}\ncron.schedule('* * * * *', async () => {\n  await sync()\n}, { noOverlap: true })\n",
    },
  },
  good: {
    'a job that may overlap': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => {\n  await fetch(url)\n})\n",
    },
    'axios with a timeout': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => {\n  await axios.get(url, { timeout: 1000 })\n}, { noOverlap: true })\n",
    },
    'options from elsewhere': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => {\n  await fetch(url, options)\n}, { noOverlap: true })\n",
    },
    'options that are spread': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => {\n  await fetch(url, { ...defaults, method: 'POST' })\n}, { noOverlap: true })\n",
    },
    'no request': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => {\n  await store.fetch('a')\n}, { noOverlap: true })\n",
    },
  },
})
