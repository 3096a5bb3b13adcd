import { type Rule, report } from './rule.ts'

const MAX_PERIOD_MS = 300_000

export const OVL002: Rule = {
  id: 'OVL002',
  level: 'warning',
  isScored: true,
  title: 'interval that starts asynchronous work',
  why: 'When one run is slow, the next ones start beside it and pile up.',
  fix: 'Wait for the work and set the next timeout when it has ended, or keep a flag while it runs.',
  bad: { 'poll.js': 'setInterval(async () => {\n  await poll()\n}, 30_000)\n' },
  good: {
    'poll.js':
      'let isRunning = false\nsetInterval(async () => {\n  if (isRunning) return\n  isRunning = true\n  try {\n    await poll()\n  } finally {\n    isRunning = false\n  }\n}, 30_000)\n',
  },
  check: (project) =>
    project.all('timer').flatMap(({ call, ms, isAsync, isSerial, isHeartbeat, place }) => {
      if (call !== 'setInterval' || isAsync !== true || isSerial || isHeartbeat) return []
      if (ms !== null && ms > MAX_PERIOD_MS) return []
      const period = ms === null ? '' : ` every ${ms / 1000} s`
      return [
        report(
          OVL002,
          place,
          `setInterval starts asynchronous work${period}, and nothing waits for the last run to end.`,
        ),
      ]
    }),
}
