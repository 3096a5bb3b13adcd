import { judge, shortestGap } from '../cron/judge.ts'
import type { When } from '../facts/schedule.ts'
import { type Rule, report } from './rule.ts'

const MAX_PERIOD_MS = 60_000

function periodOf(when: When): number | null {
  if (when.kind === 'every') return when.ms
  if (when.kind !== 'cron') return null
  const { trigger } = judge(when.expression, when.dialect)
  return trigger === null ? null : shortestGap(trigger)
}

export const OVL001: Rule = {
  id: 'OVL001',
  level: 'warning',
  isScored: true,
  title: 'short period, asynchronous work, no overlap protection',
  why: 'When one run is slow, the next ones start beside it and pile up.',
  fix: 'Set `noOverlap: true` (node-cron), `waitForCompletion: true` (cron, Nest) or `protect: true` (croner).',
  bad: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/10 * * * * *', async () => { await poll() })\n" },
  good: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('*/10 * * * * *', async () => { await poll() }, { noOverlap: true })\n",
  },
  check: (project) =>
    project.all('schedule').flatMap(({ runner, when, overlap, handler, place }) => {
      if (runner !== 'process' || overlap !== 'possible' || handler.isAsync !== true || handler.effect === 'logs')
        return []
      const period = periodOf(when)
      if (period === null || period > MAX_PERIOD_MS) return []
      return [
        report(
          OVL001,
          place,
          `It fires as often as every ${period / 1000} s and starts asynchronous work, and nothing waits for the last run to end.`,
        ),
      ]
    }),
}
