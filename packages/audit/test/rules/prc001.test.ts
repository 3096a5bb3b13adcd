import { PRC001 } from '../../src/rules/prc001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(PRC001, {
  bad: {
    'a second worker': { Procfile: 'worker: node a.js\nworker: node b.js\n' },
    'a second web': { Procfile: 'web: a\n\n# comment\nweb: b\n' },
    'a type in a Procfile of a folder': { 'deploy/Procfile': 'clock: a\nweb: b\nclock: c\n' },
    'beat beside the worker': { Procfile: 'worker: celery -A app beat & celery -A app worker\n' },
    'a clock beside the server': { Procfile: 'web: python clock.py & gunicorn app:app\n' },
  },
  good: {
    'numbered types': { Procfile: 'worker1: a\nworker2: a\n' },
    'a commented declaration': { Procfile: '# web: a\nweb: b\n' },
    'the same type in two Procfiles': { 'a/Procfile': 'web: a\n', 'b/Procfile': 'web: a\n' },
    'a Procfile for development': { Procfile: 'web: a\n', 'Procfile.dev': 'web: b\n' },
    'a migration before beat': { Procfile: 'beat: python manage.py migrate && celery -A app beat\n' },
    'an empty file': { Procfile: '' },
  },
})
