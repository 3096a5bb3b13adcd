import type { Rule } from './rule.ts'

const TIMER = `[Timer]
OnCalendar=daily
`

export const MIS004: Rule = {
  id: 'MIS004',
  level: 'info',
  isScored: true,
  title: 'timer is not persistent',
  why: 'A daily or rarer run is lost if the machine is off at that time.',
  fix: 'Set `Persistent=true`.',
  bad: { 'backup.timer': TIMER },
  good: { 'backup.timer': `${TIMER}Persistent=true\n` },
  check: (project) =>
    project.all('systemd-timer').flatMap(({ calendars, isPersistent }) => {
      const [first] = calendars
      if (isPersistent || first === undefined || !calendars.every(({ isDailyOrRarer }) => isDailyOrRarer)) return []
      const message = `\`OnCalendar=${first.text}\` without \`Persistent=true\`: the run is lost while the machine is off.`
      return [{ rule: 'MIS004', level: 'info', place: first.place, message }]
    }),
}
