import type { Schedule } from '../facts/schedule.ts'
import { packageOf } from '../join/packages.ts'
import type { Project } from '../join/project.ts'
import { type Rule, report } from './rule.ts'

/** Libraries that do not handle the rejection of a handler, and the major version that does. */
const FIRST_HANDLED: Readonly<Partial<Record<Schedule['source'], number>>> = {
  'node-cron': 4,
  cron: 4,
  'node-schedule': Number.POSITIVE_INFINITY,
  croner: Number.POSITIVE_INFINITY,
}

function isHandledByLibrary(project: Project, { source, place }: Schedule): boolean {
  const first = FIRST_HANDLED[source]
  const major = packageOf(project.tree, place.path).majorOf(source)
  // Without a version it is not known.
  return first === undefined || (Number.isFinite(first) && (major === null || major >= first))
}

export const ERR001: Rule = {
  id: 'ERR001',
  level: 'warning',
  isScored: false,
  title: 'rejection that nothing handles',
  why: 'An unhandled rejection ends the process, or the library drops it, and the failed run is not reported.',
  fix: 'Catch and report errors in the handler, or use the option `catch` of croner.',
  bad: {
    'package.json': '{ "dependencies": { "node-schedule": "^2.1.1" } }\n',
    'jobs.js':
      "import schedule from 'node-schedule'\nschedule.scheduleJob('0 * * * *', async () => {\n  await sendReminders()\n})\n",
  },
  good: {
    'package.json': '{ "dependencies": { "node-schedule": "^2.1.1" } }\n',
    'jobs.js':
      "import schedule from 'node-schedule'\nschedule.scheduleJob('0 * * * *', async () => {\n  try {\n    await sendReminders()\n  } catch (error) {\n    report(error)\n  }\n})\n",
  },
  check: (project) => {
    const handled = new Set(
      project
        .all('process-hook')
        .filter(({ hook }) => hook === 'rejection')
        .map(({ place }) => packageOf(project.tree, place.path).folder),
    )
    return project.all('schedule').flatMap((schedule) => {
      const uncaught = schedule.handler.flow?.uncaught ?? null
      if (uncaught === null || schedule.handler.effect === 'logs' || isHandledByLibrary(project, schedule)) return []
      if (handled.has(packageOf(project.tree, schedule.place.path).folder)) return []
      const text = `A rejection at line ${uncaught.line} is handled neither by the handler nor by ${schedule.source}.`
      return [report(ERR001, schedule.place, text)]
    })
  },
}
