import { packageOf } from '../join/packages.ts'
import { type Finding, type Rule, report } from './rule.ts'

export const SHD001: Rule = {
  id: 'SHD001',
  level: 'info',
  isScored: false,
  title: 'schedules that nothing stops on SIGTERM',
  why: 'A deploy ends the process in the middle of a run, or the old process keeps firing until it is killed.',
  fix: 'Stop the schedules and wait for their runs when SIGTERM arrives (`enableShutdownHooks()` with Nest).',
  bad: {
    'package.json': '{ "name": "app" }\n',
    'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => sendReminders())\n",
  },
  good: {
    'package.json': '{ "name": "app" }\n',
    'jobs.js':
      "import cron from 'node-cron'\nconst task = cron.schedule('0 * * * *', () => sendReminders())\nprocess.on('SIGTERM', () => task.stop())\n",
  },
  check: (project) => {
    const done = new Set(
      project
        .all('process-hook')
        .filter(({ hook }) => hook === 'shutdown')
        .map(({ place }) => packageOf(project.tree, place.path).folder),
    )
    return project.all('schedule').flatMap(({ runner, source, place, handler }): readonly Finding[] => {
      if (runner !== 'process' || source === 'apscheduler' || source === 'py-schedule') return []
      const { folder, isWhole } = packageOf(project.tree, place.path)
      if (!isWhole || done.has(folder) || handler.effect === 'logs') return []
      done.add(folder)
      return [report(SHD001, place, 'Nothing in this package handles SIGTERM, so a deploy cuts a run off.')]
    })
  },
}
