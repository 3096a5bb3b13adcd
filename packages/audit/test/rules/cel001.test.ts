import { CEL001 } from '../../src/rules/cel001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CEL001, {
  bad: {
    'a script that is the worker': {
      'docker-compose.yml': 'services:\n  background:\n    command: python tasks.py worker -B --loglevel=info # <<\n',
    },

    'a long option in a script': { 'start.sh': '#!/bin/bash\ncelery -A app worker --beat -l info # <<\n' },
    'flags in one word': { Procfile: 'worker: celery -A app worker -EB # <<\n' },
    'a service of compose': {
      'docker-compose.yml': 'services:\n  worker:\n    image: app\n    command: celery -A app worker -B -l info # <<\n',
    },
    'a list in compose': {
      'compose.yaml':
        'services:\n  worker:\n    image: app\n    command: # list\n      - celery # <<\n      - worker\n      - -B\n',
    },
    'a Dockerfile': { Dockerfile: 'FROM python:3\nCMD ["celery", "-A", "app", "worker", "-B"]\n' },
    'a Deployment': {
      'k8s/worker.yaml':
        'apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: worker\n        command: ["sh", "-c", "celery -A app worker -l info -B"] # <<\n',
    },
    'a script that goes on in the next line': { 'run.sh': 'exec celery \\\n  -A app worker \\\n  --beat\n' },
    'a service of systemd': { 'celery.service': '[Service]\nExecStart=/venv/bin/celery -A app worker -B\n' },
  },
  good: {
    'a flag of Python': { Procfile: 'worker: python -B worker.py\n' },

    'beat as its own process': { Procfile: 'beat: celery -A app beat -l info\nworker: celery -A app worker\n' },
    'a broker option': { 'run.sh': 'celery -A app -b redis://redis worker -l info\n' },
    'beat and worker on one line': { 'run.sh': 'celery -A app worker -l info & celery -A app beat\n' },
    'a commented line': { 'run.sh': '# celery -A app worker -B\ncelery -A app worker\n' },
    'a hint that is printed': { 'run.sh': 'echo "start with: celery -A app worker -B"\n' },
    flower: { 'docker-compose.yml': 'services:\n  flower:\n    image: app\n    command: celery -A app flower -B\n' },
    'another program with -B': { 'run.sh': 'mysqldump -B app\ncelery -A app worker\n' },
  },
})
