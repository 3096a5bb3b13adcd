import { OVL002 } from '../../src/rules/ovl002.ts'
import { checkRule } from '../check-rule.ts'

checkRule(OVL002, {
  bad: {
    'an asynchronous callback': { 'a.js': 'setInterval(async () => { // <<\n  await poll()\n}, 5000)\n' },
    'a call of an asynchronous method': {
      'a.ts':
        'export class Engine {\n  running = false\n  start() {\n    this.running = true\n    setInterval(() => { // <<\n      this.tick().catch(report)\n    }, this.period)\n  }\n  async tick() {\n    await step()\n  }\n}\n',
    },
    'a function by reference': {
      'a.js': 'async function poll() {\n  await fetch(url)\n}\nsetInterval(poll, 60 * 1000) // <<\n',
    },
  },
  good: {
    'a flag': {
      'a.js':
        'let isBusy = false\nsetInterval(async () => {\n  if (isBusy) return\n  isBusy = true\n  await poll()\n  isBusy = false\n}, 5000)\n',
    },
    'synchronous work': { 'a.js': 'setInterval(() => { counter += 1 }, 1000)\n' },
    'ten minutes': { 'a.js': 'setInterval(async () => { await poll() }, 10 * 60 * 1000)\n' },
    'a heartbeat': {
      'a.js': 'async function renewLease() {\n  await store.renew()\n}\nsetInterval(renewLease, 5000)\n',
    },
    'a heartbeat by the name of its timer': {
      'a.js':
        "function startHeartbeat() {\n  timer = setInterval(async () => { await store.query('UPDATE') }, 5000)\n}\nstartHeartbeat()\n",
    },
    'browser code': {
      'a.tsx': "import { useEffect } from 'react'\nsetInterval(async () => { await refresh() }, 5000)\n",
    },
    'a poll that ends itself': {
      'a.js': 'const timer = setInterval(async () => {\n  if (await isReady()) clearInterval(timer)\n}, 500)\n',
    },
  },
})
