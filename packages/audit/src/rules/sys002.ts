import type { Rule } from './rule.ts'

export const SYS002: Rule = {
  id: 'SYS002',
  level: 'warning',
  isScored: true,
  title: 'systemd ignores a setting',
  why: 'The setting reads as if it were on, but systemd only logs a warning and goes on without it.',
  fix: 'Put comments on lines of their own, and check the unit with `systemd-analyze verify`.',
  bad: { 'backup.timer': '[Timer]\nOnCalendar=daily\nPersistent=true  # catch up\n' },
  good: { 'backup.timer': '[Timer]\nOnCalendar=daily\n# catch up\nPersistent=true\n' },
  check: (project) =>
    project.all('systemd-timer').flatMap(({ ignored }) =>
      ignored.map(({ key, place, reason }) => {
        return { rule: 'SYS002', level: 'warning', place, message: `systemd ignores \`${key}\`: ${reason}.` }
      }),
    ),
}
