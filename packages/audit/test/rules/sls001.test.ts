import { SLS001 } from '../../src/rules/sls001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(SLS001, {
  bad: {
    'a function of Vercel': {
      'vercel.json': '{}\n',
      'api/index.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send()) // <<\n",
    },
    'a route of Next': {
      'next.config.js': '',
      'app/api/a/route.ts': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send()) // <<\n",
    },
    'a page route': {
      'next.config.mjs': '',
      'pages/api/a.ts': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send()) // <<\n",
    },
  },
  good: {
    'a server beside it': {
      'vercel.json': '{}\n',
      'server.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
    },
    'no platform': { 'api/index.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n" },
    'a queue': { 'vercel.json': '{}\n', 'api/a.ts': "await queue.upsertJobScheduler('a', { every: 1000 })\n" },
    'a folder of a server': {
      'vercel.json': '{}\n',
      'server/api/index.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
    },
    'no schedule': { 'vercel.json': '{}\n', 'api/index.js': '// cron\nexport default () => {}\n' },
  },
})
