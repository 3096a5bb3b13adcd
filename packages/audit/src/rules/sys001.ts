import type { Rule } from './rule.ts'

export const SYS001: Rule = {
  id: 'SYS001',
  level: 'warning',
  isScored: true,
  title: 'several OnCalendar lines add up',
  why: 'A further line does not replace the one before it: the unit runs at both times, every day.',
  fix: 'Keep one line, or put an empty `OnCalendar=` before the one that should count.',
  bad: { 'backup.timer': '[Timer]\nOnCalendar=daily\nOnCalendar=*-*-* 03:00:00\n' },
  good: { 'backup.timer': '[Timer]\nOnCalendar=\nOnCalendar=*-*-* 03:00:00\n' },
  check: (project) =>
    project.all('systemd-timer').flatMap(({ calendars }) => {
      const [first, second] = calendars.filter(({ isEveryDay }) => isEveryDay)
      if (first === undefined || second === undefined) return []
      const message = `\`OnCalendar=${second.text}\` adds to line ${first.place.line}: the unit runs at both times, every day.`
      return [{ rule: 'SYS001', level: 'warning', place: second.place, message }]
    }),
}
