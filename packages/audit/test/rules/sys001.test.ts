import { SYS001 } from '../../src/rules/sys001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(SYS001, {
  bad: {
    'two times of day': { 'a.timer': '[Timer]\nOnCalendar=*-*-* 02:00:00\nOnCalendar=*-*-* 04:00:00\n' },
    'a shorthand and a time': { 'a.timer': '[Timer]\nOnCalendar=daily\nPersistent=true\nOnCalendar=03:00\n' },
    'one in a zone': { 'a.timer': '[Timer]\nOnCalendar=03:00\nOnCalendar=03:00 UTC\n' },
  },
  good: {
    'different days': { 'a.timer': '[Timer]\nOnCalendar=Mon..Fri 02:00\nOnCalendar=Sat,Sun 04:00\n' },
    'a line that resets': { 'a.timer': '[Timer]\nOnCalendar=daily\nOnCalendar=\nOnCalendar=03:00\n' },
    'one line': { 'a.timer': '[Timer]\nOnCalendar=daily\n' },
    'a commented line': { 'a.timer': '[Timer]\n#OnCalendar=daily\nOnCalendar=03:00\n' },
    'a daily and a monthly one': { 'a.timer': '[Timer]\nOnCalendar=daily\nOnCalendar=*-*-01 12:00\n' },
    'a monotonic line beside it': { 'a.timer': '[Timer]\nOnCalendar=daily\nOnBootSec=10min\n' },
  },
})
