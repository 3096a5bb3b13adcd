import type { Rule } from './rule.ts'

export const CEL001: Rule = {
  id: 'CEL001',
  level: 'warning',
  isScored: true,
  title: 'Celery beat inside a worker',
  why: 'Each further worker is a further scheduler, so every periodic task is sent once per worker.',
  fix: 'Start `celery beat` as one process of its own, and the workers without `-B`.',
  bad: { Procfile: 'worker: celery -A app worker -B -l info\n' },
  good: { Procfile: 'worker: celery -A app worker -l info\nbeat: celery -A app beat\n' },
  check: (project) =>
    project.all('command').flatMap(({ words, place }) => {
      const flag = beatFlagOf(words)
      if (flag === null) return []
      const message = `\`${flag}\` starts beat inside this Celery worker: every further worker is a further scheduler.`
      return [{ rule: 'CEL001', level: 'warning', place, message }]
    }),
}

/** `-B` alone or among other flags of the worker that take no value. */
const BEAT = /^(?:--beat|-[BED]*B[BED]*(?:l\w*)?)$/
const SEPARATORS = /^(?:&&?|\|\|?|;)$/

/** Celery itself, or a program that runs it: `python tasks.py worker -B`, `manage.py celery worker -B`. */
const STARTS = /(?:^|\/)(?:celery(?:d|\.sh)?|python[\d.]*|manage\.py)$/

function beatFlagOf(words: readonly string[]): string | null {
  for (let at = 0; at < words.length; at++) {
    if (!STARTS.test(words[at]!)) continue
    const end = words.findIndex((word, index) => index > at && (SEPARATORS.test(word) || word.endsWith(';')))
    const command = words.slice(at, end < 0 ? undefined : end + 1).map((word) => word.replace(/;$/, ''))
    const isWorker = command.includes('worker') || command[0]!.endsWith('celeryd')
    const flag = command.find((word) => BEAT.test(word))
    if (isWorker && flag !== undefined) return flag
  }
  return null
}
