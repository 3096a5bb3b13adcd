import { type Rule, report } from './rule.ts'

const PLATFORM = ['vercel.json', 'netlify.toml', 'next.config.js', 'next.config.mjs', 'next.config.ts']
const ROUTE = /^(?:src\/)?(?:api\/.+|pages\/api\/.+|app\/.*route|netlify\/functions\/.+)\.[cm]?[jt]s$/

export const SLS001: Rule = {
  id: 'SLS001',
  level: 'error',
  isScored: false,
  title: 'in-process schedule in serverless code',
  why: 'The platform stops the process after the answer: the schedule never fires, or at random.',
  fix: 'Let the platform call a route by its own schedule.',
  bad: {
    'vercel.json': '{}\n',
    'api/index.js':
      "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => sendReminders())\nexport default (req, res) => res.end()\n",
  },
  good: {
    'vercel.json': '{}\n',
    'server.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => sendReminders())\n",
  },
  check: (project) => {
    const { tree } = project
    if (!PLATFORM.some((file) => tree.has(file))) return []
    return project.all('schedule').flatMap(({ runner, place }) => {
      if (runner !== 'process' || !ROUTE.test(place.path)) return []
      return [report(SLS001, place, 'This file is started for one request, so its schedule does not fire.')]
    })
  },
}
