import { PRC001 } from '../../src/rules/prc001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(PRC001, {
  bad: {
    'a second worker': { Procfile: 'worker: node a.js\nworker: node b.js\n' },
    'a second web': { Procfile: 'web: a\n\n# comment\nweb: b\n' },
    'a type in a Procfile of a folder': { 'deploy/Procfile': 'clock: a\nweb: b\nclock: c\n' },
  },
  good: {
    'numbered types': { Procfile: 'worker1: a\nworker2: a\n' },
    'a commented declaration': { Procfile: '# web: a\nweb: b\n' },
    'the same type in two Procfiles': { 'a/Procfile': 'web: a\n', 'b/Procfile': 'web: a\n' },
    'a Procfile for development': { Procfile: 'web: a\n', 'Procfile.dev': 'web: b\n' },
    'an empty file': { Procfile: '' },
  },
})
