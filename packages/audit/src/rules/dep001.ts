import { type Rule, report } from './rule.ts'
import { isUnguarded } from './unguarded.ts'

export const DEP001: Rule = {
  id: 'DEP001',
  level: 'warning',
  isScored: true,
  title: 'deploy that starts the new scheduler before the old one stops',
  why: 'During each deploy two schedulers run, and both fire.',
  fix: 'Set `strategy: Recreate` or `maxSurge: 0` (Kubernetes), or `order: stop-first` (Swarm).',
  bad: {
    'docker-compose.yml':
      'services:\n  worker:\n    build: .\n    command: node worker.js\n    deploy:\n      update_config:\n        order: start-first\n',
    'worker.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => sendReminders())\n",
  },
  good: {
    'docker-compose.yml':
      'services:\n  worker:\n    build: .\n    command: node worker.js\n    deploy:\n      update_config:\n        order: stop-first\n',
    'worker.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => sendReminders())\n",
  },
  check: (project) =>
    project.units.flatMap(({ unit, schedules }) => {
      const first = schedules.find(isUnguarded)
      if (unit.startsBeforeStop !== true || first === undefined) return []
      const text = `A deploy of \`${unit.name}\` starts the new instance before the old one stops, and both register the schedule at ${first.place.path}:${first.place.line}.`
      return [report(DEP001, unit.place, text)]
    }),
}
