import { type Finding, type Rule, report } from './rule.ts'

export const CTB008: Rule = {
  id: 'CTB008',
  level: 'warning',
  isScored: false,
  title: 'the same line twice',
  why: 'cron runs both, so every fire runs the command twice.',
  fix: 'Delete one of the lines.',
  bad: { crontab: '0 3 * * * /opt/backup\n0 3 * * * /opt/backup\n' },
  good: { crontab: '0 3 * * * /opt/backup\n0 4 * * * /opt/backup\n' },
  check: (project) => {
    const seen = new Map<string, number>()
    return project.all('crontab-line').flatMap(({ place, expression, command }): readonly Finding[] => {
      const key = `${place.path} ${expression} ${command}`
      const first = seen.get(key)
      seen.set(key, place.line)
      return first === undefined ? [] : [report(CTB008, place, `This line repeats line ${first}: both run.`)]
    })
  },
}
