import { SYS002 } from '../../src/rules/sys002.ts'
import { checkRule } from '../check-rule.ts'

checkRule(SYS002, {
  bad: {
    'an unknown key': { 'a.timer': '[Timer]\nOnCalendar=daily\nTimeZone=Asia/Kolkata\n' },
    'a misspelt key': { 'a.timer': '[Timer]\nOnCalender=daily\n' },
    'Persistent on a monotonic timer': { 'a.timer': '[Timer]\nOnBootSec=5min\nOnUnitActiveSec=1h\nPersistent=true\n' },
    'a comment after a time span': { 'a.timer': '[Timer]\nOnCalendar=daily\nRandomizedDelaySec=1h ; spread\n' },
    'a setting of the timer in another section': { 'a.timer': '[Unit]\nPersistent=true\n[Timer]\nOnCalendar=daily\n' },
    'a value that is no boolean': { 'a.timer': '[Timer]\nOnCalendar=daily\nPersistent=maybe\n' },
    'a cron expression': { 'a.timer': '[Timer]\nOnCalendar=0 3 * * *\n' },
  },
  good: {
    'comments on lines of their own': { 'a.timer': '# a\n[Timer]\n; b\nOnCalendar=daily\n# c\nPersistent=true\n' },
    'a number sign in a description': { 'a.timer': '[Unit]\nDescription=Backup # 1\n[Timer]\nOnCalendar=daily\n' },
    'a template': { 'a.timer.j2': '[Timer]\nOnCalendar={{ calendar }}\nPersistent={{ persistent }}\n' },
    'conditions and extensions': { 'a.timer': '[Unit]\nConditionACPower=true\nX-Note=a\n[Timer]\nOnCalendar=daily\n' },
    'all of its settings': {
      'a.timer':
        '[Timer]\nOnCalendar=Mon..Fri *-*-* 02:00:00 Europe/Berlin\nAccuracySec=1us\nRandomizedDelaySec=1h 30min\nFixedRandomDelay=true\nUnit=a.service\nWakeSystem=no\n[Install]\nWantedBy=timers.target\n',
    },
    'forms of calendar expressions': {
      'a.timer':
        '[Timer]\nOnCalendar=*-*-* *:0/15:00\nOnCalendar=Sat *-*-1..7 18:00:00\nOnCalendar=*-02~01\nOnCalendar=2026-01-01\nOnCalendar=Thu,Fri 2012-*-1,5 11:12:13\nOnCalendar=Mon,Sun 12-*-* 2,1:23\nOnCalendar=*:0/1\nOnCalendar=quarterly\nOnCalendar=Sun 03:00\n',
    },
    'a service': { 'a.service': '[Service]\nExecStart=/opt/a # b\nUnknown=1\n' },
    'both kinds of timers': { 'a.timer': '[Timer]\nOnBootSec=5min\nOnCalendar=daily\nPersistent=true\n' },
  },
})
