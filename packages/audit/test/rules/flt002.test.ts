import { FLT002 } from '../../src/rules/flt002.ts'
import { checkRule } from '../check-rule.ts'

checkRule(FLT002, {
  bad: {
    'all cores': {
      'ecosystem.config.js':
        "module.exports = {\n  apps: [\n    {\n      name: 'web',\n      script: 'server.js',\n      instances: 'max', // <<\n    },\n  ],\n}\n",
      'server.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll())\n",
    },
    'a number': {
      'ecosystem.config.js':
        "module.exports = {\n  apps: [\n    {\n      name: 'web',\n      script: 'server.js',\n      instances: 4, // <<\n    },\n  ],\n}\n",
      'server.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll())\n",
    },
    'one less than the cores': {
      'ecosystem.config.js':
        "module.exports = {\n  apps: [\n    {\n      name: 'web',\n      script: 'server.js',\n      instances: -1, // <<\n    },\n  ],\n}\n",
      'server.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll())\n",
    },
    'a schedule behind imports': {
      'ecosystem.config.js':
        "module.exports = {\n  apps: [\n    {\n      name: 'web',\n      script: 'server.js',\n      instances: 2, // <<\n    },\n  ],\n}\n",
      'server.js': "require('./app')\n",
      'app.js': "import './jobs/index.js'\n",
      'jobs/index.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll())\n",
    },
    'workers of the cluster module': {
      'cluster.js':
        "import cluster from 'node:cluster'\nif (cluster.isPrimary) {\n  cluster.fork() // <<\n} else {\n  await import('./server.js')\n}\n",
      'server.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll())\n",
    },
  },
  good: {
    'a method that nothing calls': {
      'ecosystem.config.js': "module.exports = { apps: [{ name: 'web', script: 'server.js', instances: 'max' }] }\n",
      'server.js': "const { Maintenance } = require('./utils')\nMaintenance.vacuum()\n",
      'utils.js': "module.exports = { ...require('./maintenance') }\n",
      'maintenance.js':
        "const cron = require('node-cron')\nclass Maintenance {\n  static vacuum() {}\n  static scheduleMaintenance() {\n    cron.schedule('* * * * *', () => poll())\n  }\n}\nmodule.exports = { Maintenance }\n",
    },
    'a script that is not among the files': {
      'ecosystem.config.js':
        "module.exports = { apps: [{ name: 'web', script: 'generated/server.js', instances: 'max' }] }\n",
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll())\n",
    },
    'one instance': {
      'ecosystem.config.js':
        "module.exports = {\n  apps: [\n    {\n      name: 'web',\n      script: 'server.js',\n      instances: 1, // <<\n    },\n  ],\n}\n",
      'server.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll())\n",
    },
    'a unit without schedules': {
      'ecosystem.config.js':
        "module.exports = {\n  apps: [\n    {\n      name: 'web',\n      script: 'server.js',\n      instances: 'max', // <<\n    },\n  ],\n}\n",
      'server.js': "require('express')().listen(80)\n",
      'cron.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll())\n",
    },
    'guarded schedules': {
      'ecosystem.config.js':
        "module.exports = {\n  apps: [\n    {\n      name: 'web',\n      script: 'server.js',\n      instances: 'max', // <<\n    },\n  ],\n}\n",
      'server.js':
        "import cron from 'node-cron'\ncron.schedule('* * * * *', async () => {\n  if (!(await redis.set('k', '1', 'EX', 50, 'NX'))) return\n  await poll()\n})\n",
    },
    'a runner that is chosen by name': {
      'ecosystem.config.js':
        "module.exports = {\n  apps: [\n    {\n      name: 'web',\n      script: 'server.js',\n      instances: 'max', // <<\n    },\n  ],\n}\n",
      'server.js':
        "import cron from 'node-cron'\nif (process.env.name === 'primary') {\n  cron.schedule('* * * * *', () => poll())\n}\n",
    },
    'a registration that nothing calls': {
      'ecosystem.config.js':
        "module.exports = {\n  apps: [\n    {\n      name: 'web',\n      script: 'server.js',\n      instances: 'max', // <<\n    },\n  ],\n}\n",
      'server.js': "import { start } from './jobs.js'\n// start()\n",
      'jobs.js':
        "import cron from 'node-cron'\nexport function start() {\n  cron.schedule('* * * * *', () => poll())\n}\n",
    },
    'workers that load another file': {
      'cluster.js':
        "import cluster from 'node:cluster'\nif (cluster.isPrimary) cluster.fork()\nelse await import('./web.js')\n",
      'web.js': 'export {}\n',
      'server.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll())\n",
    },
  },
})
