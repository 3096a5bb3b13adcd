import { type Rule, report } from './rule.ts'

export const ERR002: Rule = {
  id: 'ERR002',
  level: 'info',
  isScored: false,
  title: 'request without a time limit in a job that does not overlap',
  why: 'A peer that never answers keeps the run open, and overlap protection then skips every later fire.',
  fix: 'Pass `signal: AbortSignal.timeout(30_000)`, or the timeout of the client.',
  bad: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => {\n  await fetch('https://example.com/sync')\n}, { noOverlap: true })\n",
  },
  good: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => {\n  await fetch('https://example.com/sync', { signal: AbortSignal.timeout(30_000) })\n}, { noOverlap: true })\n",
  },
  check: (project) =>
    project.all('schedule').flatMap(({ handler, overlap, runner }) => {
      const place = handler.flow?.unlimited ?? null
      if (place === null || runner !== 'process' || overlap !== 'prevented') return []
      return [report(ERR002, place, 'If this request hangs, the run never ends and every later fire is skipped.')]
    }),
}
