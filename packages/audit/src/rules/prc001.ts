import type { Rule } from './rule.ts'

export const PRC001: Rule = {
  id: 'PRC001',
  level: 'warning',
  isScored: true,
  title: 'process type declared twice',
  why: 'The last declaration wins, so the first process never starts.',
  fix: 'Give each process type its own name.',
  bad: { Procfile: 'web: node server.js\nclock: node clock.js\nclock: node other.js\n' },
  good: { Procfile: 'web: node server.js\nclock: node clock.js\n' },
  check: (project) => {
    const seen = new Map<string, number>()
    return project.all('process-type').flatMap(({ name, place }) => {
      const key = `${place.path}:${name}`
      const first = seen.get(key)
      seen.set(key, place.line)
      if (first === undefined) return []
      const message = `Process type \`${name}\` is declared again; its first declaration is in line ${first}.`
      return [{ rule: 'PRC001', level: 'warning', place, message }]
    })
  },
}
