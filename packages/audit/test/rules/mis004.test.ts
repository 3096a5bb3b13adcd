import { MIS004 } from '../../src/rules/mis004.ts'
import { checkRule } from '../check-rule.ts'

checkRule(MIS004, {
  bad: {
    'a weekday': { 'a.timer': '[Timer]\nOnCalendar=Mon *-*-* 03:00:00\n' },
    weekly: { 'a.timer': '[Timer]\nOnCalendar=weekly\nPersistent=false\n' },
    'Persistent that systemd ignores': { 'a.timer': '[Timer]\nOnCalendar=03:30\nPersistent=true # catch up\n' },
    'a zone': { 'a.timer': '[Timer]\nOnCalendar=*-*-* 03:00 Europe/Berlin\n' },
    'a day of the month': { 'a.timer': '[Timer]\nOnCalendar=*-*-01 00:00:00\n' },
  },
  good: {
    hourly: { 'a.timer': '[Timer]\nOnCalendar=hourly\n' },
    'every sixth hour': { 'a.timer': '[Timer]\nOnCalendar=*-*-* 00/6:00:00\n' },
    'twice a day': { 'a.timer': '[Timer]\nOnCalendar=*-*-* 06,18:00:00\n' },
    'a monotonic timer': { 'a.timer': '[Timer]\nOnBootSec=5min\nOnUnitActiveSec=1d\n' },
    'every quarter of an hour': { 'a.timer': '[Timer]\nOnCalendar=*:0/15\n' },
    'Persistent by another word': { 'a.timer': '[Timer]\nOnCalendar=daily\nPersistent=yes\n' },
    'a template': { 'a.timer.j2': '[Timer]\nOnCalendar={{ schedule }}\n' },
    'a service': { 'a.service': '[Service]\nExecStart=/opt/a\n' },
  },
})
