import { type Rule, report } from './rule.ts'

export const FLT007: Rule = {
  id: 'FLT007',
  level: 'warning',
  isScored: true,
  title: 'repeated job that is added again at each start',
  why: 'A changed expression leaves the old schedule in the queue, and both fire.',
  fix: 'Use `queue.upsertJobScheduler(id, \u2026)`, or remove the outdated schedules first.',
  bad: { 'jobs.js': "await queue.add('report', {}, { repeat: { pattern: '0 3 * * *' } })\n" },
  good: { 'jobs.js': "await queue.upsertJobScheduler('report', { pattern: '0 3 * * *', tz: 'UTC' })\n" },
  check: (project) =>
    project.all('repeatable').flatMap(({ place, text, isRemovedFirst }) => {
      if (isRemovedFirst) return []
      return [
        report(
          FLT007,
          place,
          `${text}: a changed expression leaves the previous schedule in the store, and both fire.`,
        ),
      ]
    }),
}
