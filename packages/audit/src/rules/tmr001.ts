import { type Rule, report } from './rule.ts'

const MAX_DELAY_MS = 2_147_483_647

export const TMR001: Rule = {
  id: 'TMR001',
  level: 'error',
  isScored: false,
  title: 'delay longer than a timer can hold',
  why: 'A delay above 2147483647 ms fires at once.',
  fix: 'Wait in several steps, or use a schedule.',
  bad: { 'a.js': 'setTimeout(() => renew(), 30 * 24 * 60 * 60 * 1000)\nsetInterval(() => tick(), 1000)\n' },
  good: { 'a.js': 'setTimeout(() => renew(), 20 * 24 * 60 * 60 * 1000)\nsetInterval(() => tick(), 1000)\n' },
  check: (project) =>
    project.all('timer').flatMap(({ call, ms, place }) => {
      if (ms === null || ms <= MAX_DELAY_MS || !Number.isFinite(ms)) return []
      return [report(TMR001, place, `${call} with ${ms} ms: a delay above ${MAX_DELAY_MS} ms fires at once.`)]
    }),
}
