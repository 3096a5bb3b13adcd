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
    'a flag of an object that is made after its variable is declared': {
      'a.js':
        "let service = null\nfunction start() {\n  const { Settlement } = require('./settlement')\n  service = new Settlement()\n  setInterval(() => { service.settle().catch(() => {}) }, 5000)\n}\nfunction stop() {\n  service = null\n}\nmodule.exports = { start, stop }\n",
      'settlement.js':
        'class Settlement {\n  constructor() {\n    this.isBusy = false\n  }\n  async settle() {\n    if (this.isBusy) return\n    this.isBusy = true\n    try {\n      await pay()\n    } finally {\n      this.isBusy = false\n    }\n  }\n}\nmodule.exports = { Settlement }\n',
    },
    'a flag of an object that the constructor makes': {
      'a.js':
        "const { Settlement } = require('./settlement')\nclass Engine {\n  constructor() {\n    this.settlement = new Settlement()\n  }\n  start() {\n    setInterval(() => { this.settlement.settle().catch(() => {}) }, 5000)\n  }\n}\nnew Engine().start()\n",
      'settlement.js':
        'class Settlement {\n  async settle() {\n    if (this.isBusy) return\n    this.isBusy = true\n    try {\n      await pay()\n    } finally {\n      this.isBusy = false\n    }\n  }\n}\nmodule.exports = { Settlement }\n',
    },
    'ten minutes that the constructor sets': {
      'a.js':
        'class Pinger {\n  constructor() {\n    this.interval = 10 * 60 * 1000\n  }\n  start() {\n    setInterval(async () => { await fetch(url) }, this.interval)\n  }\n}\nnew Pinger().start()\n',
    },
    'six hours in words': {
      'a.js': "const ms = require('ms')\nsetInterval(async () => { await poll() }, ms('6h'))\n",
    },
    'a poll that ends itself': {
      'a.js': 'const timer = setInterval(async () => {\n  if (await isReady()) clearInterval(timer)\n}, 500)\n',
    },
  },
})
