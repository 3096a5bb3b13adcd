import { DEP001 } from '../../src/rules/dep001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(DEP001, {
  bad: {
    'start-first': {
      'docker-compose.yml':
        'services:\n  worker:\n    build: .\n    command: node worker.js\n    deploy:\n      update_config:\n        order: start-first\n',
      'worker.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
    },
    'the default of a Deployment': {
      'k8s/worker.yaml':
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: worker\nspec:\n  template:\n    spec:\n      containers:\n        - name: worker\n          image: registry.example.com/worker\n          command: ['node', 'worker.js']\n",
      'worker.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
    },
    'a surge': {
      'k8s/worker.yaml':
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: worker\nspec:\n  strategy:\n    type: RollingUpdate\n    rollingUpdate:\n      maxSurge: 1\n  template:\n    spec:\n      containers:\n        - name: worker\n          image: registry.example.com/worker\n          command: ['node', 'worker.js']\n",
      'worker.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
    },
  },
  good: {
    'stop-first': {
      'docker-compose.yml':
        'services:\n  worker:\n    build: .\n    command: node worker.js\n    deploy:\n      update_config:\n        order: stop-first\n',
      'worker.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
    },
    Recreate: {
      'k8s/worker.yaml':
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: worker\nspec:\n  strategy:\n    type: Recreate\n  template:\n    spec:\n      containers:\n        - name: worker\n          image: registry.example.com/worker\n          command: ['node', 'worker.js']\n",
      'worker.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
    },
    'no surge': {
      'k8s/worker.yaml':
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: worker\nspec:\n  strategy:\n    rollingUpdate:\n      maxSurge: 0\n      maxUnavailable: 1\n  template:\n    spec:\n      containers:\n        - name: worker\n          image: registry.example.com/worker\n          command: ['node', 'worker.js']\n",
      'worker.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
    },
    'a unit without schedules': {
      'k8s/worker.yaml':
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: worker\nspec:\n  template:\n    spec:\n      containers:\n        - name: worker\n          image: registry.example.com/worker\n          command: ['node', 'worker.js']\n",
      'worker.js': 'export {}\n',
    },
    'a guarded unit': {
      'k8s/worker.yaml':
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: worker\nspec:\n  template:\n    spec:\n      containers:\n        - name: worker\n          image: registry.example.com/worker\n          command: ['node', 'worker.js']\n",
      'worker.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', async () => {\n  if (await redis.set('a', '1', 'EX', 60, 'NX')) await send()\n})\n",
    },
  },
})
