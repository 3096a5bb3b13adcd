import { TMR002 } from '../../src/rules/tmr002.ts'
import { checkRule } from '../check-rule.ts'

checkRule(TMR002, {
  bad: {
    'six hours': { 'a.js': 'setInterval(() => rotate(), 6 * 60 * 60 * 1000) // <<\n' },
    'folded constants': {
      'a.js': 'const hour = 3600000\nconst min = 60000\nsetInterval(() => rotate(), 6 * hour + 40 * min) // <<\n',
    },
    'an hour in words': { 'a.js': "import ms from 'ms'\nsetInterval(rotate, ms('1 hour')) // <<\n" },
    'an hour': { 'a.js': 'setInterval(rotate, 3600000) // <<\n' },
  },
  good: {
    'an interval that only keeps the process alive': { 'a.js': 'setInterval(() => {}, 86400000)\n' },
    'ten minutes': { 'a.js': 'setInterval(rotate, 600000)\n' },
    'a timeout': { 'a.js': 'setInterval(() => tick(), 1000)\nsetTimeout(rotate, 7200000)\n' },
    unknown: { 'a.js': 'setInterval(rotate, config.period)\n' },
    'browser code': { 'a.jsx': 'setInterval(rotate, 7200000)\n' },
    'a method': { 'a.js': 'clock.api.setInterval(rotate, 7200000)\n' },
  },
})
