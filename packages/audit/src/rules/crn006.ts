import { judge } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

/** Platforms whose own dialect has these tokens, and whose expressions do not move. */
const SPECIAL = new Set(['eventbridge'])

export const CRN006: Rule = {
  id: 'CRN006',
  level: 'info',
  isScored: false,
  title: 'token that only some schedulers know',
  why: 'Another scheduler rejects `L`, `W`, `#` or `?`, or reads it differently.',
  fix: 'Write plain fields if the expression may move to another scheduler.',
  bad: { 'jobs.js': "import { Cron } from 'croner'\nnew Cron('0 0 L * *', () => sendReminders())\n" },
  good: { 'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 28 * *', () => sendReminders())\n" },
  check: (project) =>
    project.all('schedule').flatMap(({ when, place, whenPlace, source }) => {
      if (when.kind !== 'cron' || SPECIAL.has(source)) return []
      const { fields } = judge(when.expression, when.dialect)
      const token = fields.flatMap((field) => /[LW#?H](?![A-Z])/.exec(field.replaceAll(/[A-Z]{3}/gi, '')) ?? [])[0]
      if (token === undefined) return []
      return [
        report(CRN006, whenPlace ?? place, `\`${token}\` in \`${when.expression}\` is not known to all schedulers.`),
      ]
    }),
}
