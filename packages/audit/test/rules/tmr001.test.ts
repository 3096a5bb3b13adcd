import { TMR001 } from '../../src/rules/tmr001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(TMR001, {
  bad: {
    '30 days': { 'a.js': 'setInterval(() => tick(), 1000)\nsetTimeout(() => renew(), 30 * 24 * 3600 * 1000) // <<\n' },
    'a constant': { 'a.js': 'const MONTH = 2592000000\nsetInterval(() => renew(), MONTH) // <<\n' },
    'one above the limit': { 'a.js': 'setInterval(() => renew(), 2147483648) // <<\n' },
  },
  good: {
    '24 days': { 'a.js': 'setInterval(() => renew(), 24 * 24 * 3600 * 1000)\n' },
    'the limit': { 'a.js': 'setInterval(() => renew(), 2147483647)\n' },
    unknown: { 'a.js': 'setInterval(() => renew(), config.delay)\n' },
    'a minute': { 'a.js': 'setInterval(() => renew(), 60000)\n' },
    "a function of one's own": { 'a.js': 'function setInterval(a, b) {}\nsetInterval(() => renew(), 99999999999)\n' },
  },
})
