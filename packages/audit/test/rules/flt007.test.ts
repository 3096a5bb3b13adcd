import { FLT007 } from '../../src/rules/flt007.ts'
import { checkRule } from '../check-rule.ts'

checkRule(FLT007, {
  bad: {
    'repeat with a pattern': { 'a.ts': "await queue.add('report', {}, { repeat: { pattern: '0 3 * * *' } }) // <<\n" },
    'repeat with cron, of Bull': { 'a.js': "queue.add({}, { repeat: { cron: '0 3 * * *' } }) // <<\n" },
    'repeat in the defaults of a queue': {
      'a.ts': "new Queue('a', {\n  defaultJobOptions: { repeat: { every: 1000 } }, // <<\n})\n",
    },
    'repeatEvery of Agenda without unique': {
      'a.js': "await agenda.create('report').repeatEvery('1 day').save() // <<\n",
    },
  },
  good: {
    upsertJobScheduler: { 'a.ts': "await queue.upsertJobScheduler('report', { every: 1000 })\n" },
    'agenda.every': { 'a.js': "await agenda.every('1 day', 'report')\n" },
    'outdated ones are removed first': {
      'a.ts':
        "for (const job of await queue.getRepeatableJobs()) await queue.removeRepeatableByKey(job.key)\nawait queue.add('report', {}, { repeat: { every: 1000 } })\n",
    },
    'repeatEvery with unique': {
      'a.js': "await agenda.create('report').unique({ name: 'report' }).repeatEvery('1 day').save()\n",
    },
    'a delayed job': { 'a.ts': "await queue.add('report', {}, { delay: 1000 })\n" },
    'an animation': { 'a.ts': 'timeline.add(box, { repeat: 3 })\n' },
  },
})
