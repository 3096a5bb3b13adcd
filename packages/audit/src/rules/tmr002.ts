import { type Rule, report } from './rule.ts'

const HOUR_MS = 3_600_000

export const TMR002: Rule = {
  id: 'TMR002',
  level: 'info',
  isScored: true,
  title: 'long interval in a server',
  why: 'Each deploy starts the interval again: it loses its phase, and may never fire.',
  fix: 'Use a schedule with a time of day.',
  bad: { 'a.js': 'setInterval(() => rotate(), 6 * 60 * 60 * 1000)\n' },
  good: { 'a.js': 'setInterval(() => rotate(), 6 * 60 * 1000)\n' },
  check: (project) =>
    project.all('timer').flatMap(({ call, ms, place }) => {
      if (call !== 'setInterval' || ms === null || ms < HOUR_MS) return []
      const hours = Math.round((ms / HOUR_MS) * 10) / 10
      return [report(TMR002, place, `setInterval with ${hours} h starts again at each deploy, so it may never fire.`)]
    }),
}
