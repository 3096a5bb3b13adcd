import { type Rule, report } from './rule.ts'
import { isUnguarded } from './unguarded.ts'

export const FLT002: Rule = {
  id: 'FLT002',
  level: 'error',
  isScored: true,
  title: 'several instances of a process with unguarded schedules',
  why: 'The repository itself starts several instances, so each fire runs several times.',
  fix: 'Start one instance of the unit that holds the schedules, or guard them with a coordinator or with cronce.',
  bad: {
    'ecosystem.config.js': "module.exports = { apps: [{ name: 'web', script: 'server.js', instances: 'max' }] }\n",
    'server.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll())\n",
  },
  good: {
    'ecosystem.config.js': "module.exports = { apps: [{ name: 'web', script: 'server.js', instances: 1 }] }\n",
    'server.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll())\n",
  },
  check: (project) =>
    project.units.flatMap(({ unit, isMany, schedules }) => {
      const unguarded = schedules.filter(isUnguarded)
      const [first] = unguarded
      if (!isMany || first === undefined) return []
      const text = `\`${unit.evidence}\` starts several instances of \`${unit.name}\`, and each of them registers ${unguarded.length === 1 ? 'the schedule' : `${unguarded.length} schedules, such as the one`} at ${first.place.path}:${first.place.line}.`
      const related = unguarded.map(({ place }) => ({ place, text: 'registered here' }))
      return [{ ...report(FLT002, unit.place, text), related }]
    }),
}
