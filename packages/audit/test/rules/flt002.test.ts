import { FLT002 } from '../../src/rules/flt002.ts'
import { checkRule } from '../check-rule.ts'

const PYTHON =
  "from flask import Flask\nfrom apscheduler.schedulers.background import BackgroundScheduler\napp = Flask(__name__)\nscheduler = BackgroundScheduler()\nscheduler.add_job(report, 'interval', hours=1, id='a', replace_existing=True)\nscheduler.start()\n"
const JOBS = "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll())\n"
const IMAGE = 'FROM node:24\nWORKDIR /app\nCOPY . .\nCMD ["node", "server.js"]\n'
const POD =
  '  template:\n    spec:\n      containers:\n        - name: web\n          image: registry.example.com/web:1\n'

checkRule(FLT002, {
  bad: {
    'workers of gunicorn in a Procfile': { Procfile: 'web: gunicorn app:app --workers 3 # <<\n', 'app.py': PYTHON },
    'workers of uvicorn in an image': {
      Dockerfile: 'FROM python:3.13\nCMD ["uvicorn", "main:app", "--workers", "4"]\n',
      'main.py': PYTHON,
    },
    'workers in the settings of gunicorn': {
      Dockerfile: 'FROM python:3.13\nCMD ["gunicorn", "-c", "gunicorn.conf.py", "app:app"]\n',
      'gunicorn.conf.py': 'import multiprocessing\nworkers = multiprocessing.cpu_count() * 2 + 1\n',
      'app.py': PYTHON,
    },
    'workers in the settings that gunicorn reads by itself': {
      Procfile: 'web: gunicorn app:app # <<\n',
      'gunicorn.conf.py': 'bind = "0.0.0.0:8000"\nworkers = 4\n',
      'app.py': PYTHON,
    },
    'replicas of compose': {
      'compose.yaml': 'services:\n  web:\n    build: .\n    deploy:\n      replicas: 3 # <<\n',
      Dockerfile: IMAGE,
      'server.js': JOBS,
    },
    'replicas of a Deployment': {
      'k8s/web.yaml': `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2 # <<\n${POD}`,
      Dockerfile: IMAGE,
      'server.js': JOBS,
    },
    'replicas of a StatefulSet': {
      'k8s/web.yaml': `apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: web\nspec:\n  replicas: 2 # <<\n${POD}`,
      Dockerfile: IMAGE,
      'server.js': JOBS,
    },
    'an autoscaler': {
      'k8s/web.yaml': `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n${POD}`,
      'k8s/hpa.yaml':
        'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec:\n  scaleTargetRef:\n    kind: Deployment\n    name: web\n  minReplicas: 1\n  maxReplicas: 5\n',
      Dockerfile: IMAGE,
      'server.js': JOBS,
    },

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
    'workers that are forked after the scheduler has started': {
      Procfile: 'web: gunicorn app:app --workers 3 --preload\n',
      'app.py': PYTHON,
    },
    'one worker in the settings of gunicorn': {
      Procfile: 'web: gunicorn app:app\n',
      'gunicorn.conf.py': 'workers = 1\n',
      'app.py': PYTHON,
    },
    'workers of another program': { Procfile: 'web: celery -A app worker --workers 3\n', 'app.py': PYTHON },
    'workers in settings of another folder': {
      Procfile: 'web: gunicorn app:app\n',
      'other/gunicorn.conf.py': 'workers = 4\n',
      'app.py': PYTHON,
    },
    'a Deployment of an image from elsewhere': {
      'k8s/web.yaml': `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2\n${POD.replace('registry.example.com/web', 'redis')}`,
      Dockerfile: IMAGE,
      'server.js': JOBS,
    },

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
