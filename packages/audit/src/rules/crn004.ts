import { judge } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

const RANGES = [
  { name: 'second', size: 60 },
  { name: 'minute', size: 60 },
  { name: 'hour', size: 24 },
] as const

export const CRN004: Rule = {
  id: 'CRN004',
  level: 'warning',
  isScored: true,
  title: 'step that does not divide the range',
  why: 'The last gap is shorter than the others, and a step as large as the range fires once per range.',
  fix: 'Use a divisor of 60 or 24, or an interval instead of an expression.',
  bad: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/45 * * * *', () => sendReminders())\n" },
  good: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('*/15 * * * *', () => sendReminders())\n" },
  check: (project) =>
    project.all('schedule').flatMap(({ when, place, whenPlace, source }) => {
      if (when.kind !== 'cron') return []
      const { fields, problem } = judge(when.expression, when.dialect)
      if (problem !== null) return []
      for (const [index, { name, size }] of RANGES.entries()) {
        const step = Number(/^\*\/(\d+)$/.exec(fields[index] ?? '')?.[1] ?? 1)
        if (step === 0 || (step < size && size % step === 0)) continue
        const effect =
          step >= size
            ? `fires once per ${name === 'hour' ? 'day' : name === 'minute' ? 'hour' : 'minute'}`
            : 'leaves an uneven last gap'
        return [
          report(
            CRN004,
            whenPlace ?? place,
            `\`*/${step}\` in the ${name} field of \`${when.expression}\` (${source}) ${effect}.`,
          ),
        ]
      }
      return []
    }),
}
