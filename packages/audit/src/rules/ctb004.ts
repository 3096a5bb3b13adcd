import { type Rule, report } from './rule.ts'

export const CTB004: Rule = {
  id: 'CTB004',
  level: 'warning',
  isScored: false,
  title: 'crontab without a newline at its end',
  why: 'cron ignores a last line that no newline ends.',
  fix: 'Add a newline at the end of the file.',
  bad: { crontab: '0 3 * * * /opt/backup' },
  good: { crontab: '0 3 * * * /opt/backup\n' },
  check: (project) => {
    const jobs = new Set(project.all('crontab-line').map(({ place }) => `${place.path}:${place.line}`))
    return project.all('crontab-file').flatMap(({ place, endsWithNewline, lastLine }) => {
      if (endsWithNewline || !jobs.has(`${place.path}:${lastLine}`)) return []
      return [report(CTB004, { path: place.path, line: lastLine }, 'No newline ends the last line: cron ignores it.')]
    })
  },
}
