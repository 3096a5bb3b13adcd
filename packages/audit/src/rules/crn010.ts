import { judge, usualGap } from '../cron/judge.ts'
import { type Rule, report } from './rule.ts'

/** The comment on the line, or else on the line before it. */
function commentAt(text: string, line: number): string {
  const lines = text.split('\n')
  const own = /(?:\/\/|#)(.*)$/.exec(lines[line - 1] ?? '')?.[1]
  return own ?? /^\s*(?:\/\/|#|\*|\/\*)(.*)$/.exec(lines[line - 2] ?? '')?.[1] ?? ''
}

const UNITS: Readonly<Record<string, number>> = { second: 1000, minute: 60_000, hour: 3_600_000 }

/** "every 5 minutes", "every hour": the words, and the period that they name. */
function periodIn(comment: string): { text: string; ms: number } | null {
  const [text, number, unit] = /\bevery\s+(?:(\d+)\s+)?(second|minute|hour)s?\b/i.exec(comment) ?? []
  const size = UNITS[unit?.toLowerCase() ?? '']
  return text === undefined || size === undefined ? null : { text, ms: Number(number ?? 1) * size }
}

export const CRN010: Rule = {
  id: 'CRN010',
  level: 'info',
  isScored: false,
  title: 'comment that contradicts the expression',
  why: 'One of the two is wrong, and readers believe the comment.',
  fix: 'Correct the comment or the expression.',
  bad: {
    'jobs.js':
      "import cron from 'node-cron'\n// every 5 minutes\ncron.schedule('*/10 * * * *', () => sendReminders())\n",
  },
  good: {
    'jobs.js':
      "import cron from 'node-cron'\n// every 10 minutes\ncron.schedule('*/10 * * * *', () => sendReminders())\n",
  },
  check: (project) =>
    project.all('schedule').flatMap(({ when, place, whenPlace }) => {
      const judged = when.kind === 'cron' ? judge(when.expression, when.dialect) : null
      const at = whenPlace ?? place
      const gap = judged?.trigger == null ? null : usualGap(judged.trigger)
      const said = gap === null ? null : periodIn(commentAt(project.tree.text(at.path) ?? '', at.line))
      if (said === null || gap === null || said.ms === gap.ms) return []
      const period = `${gap.isOnly ? '' : 'mostly '}every ${gap.ms / 60_000} min`
      return [report(CRN010, at, `The comment says "${said.text}", and the expression fires ${period}.`)]
    }),
}
