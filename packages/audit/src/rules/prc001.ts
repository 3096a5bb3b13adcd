import type { Finding, Rule } from './rule.ts'
import { report } from './rule.ts'

/** Types that operators scale, and what starts a scheduler beside the work of the type. */
const SCALED = /^(?:web|worker)/
const SCHEDULER = /\bcelery\b.*\bbeat\b|\bclock\.(?:py|[jt]s|rb)\b|\bclockwork\b|\b(?:scheduler|cron)\.(?:py|[jt]s)\b/

export const PRC001: Rule = {
  id: 'PRC001',
  level: 'warning',
  isScored: true,
  title: 'process type declared twice, or scaled with its scheduler',
  why: 'The last declaration of a type wins; and a scheduler inside a scaled type runs once per process.',
  fix: 'Give each process type its own name, and the scheduler a type of its own.',
  bad: { Procfile: 'web: node server.js\nclock: node clock.js\nclock: node other.js\n' },
  good: { Procfile: 'web: node server.js\nclock: node clock.js\n' },
  check: (project) => {
    const seen = new Map<string, number>()
    return project.all('process-type').flatMap(({ name, command, place }): readonly Finding[] => {
      const key = `${place.path}:${name}`
      const first = seen.get(key)
      seen.set(key, place.line)
      if (first !== undefined) {
        const message = `Process type \`${name}\` is declared again; its first declaration is in line ${first}.`
        return [report(PRC001, place, message)]
      }
      const parts = command.split(/\s&\s/)
      const scheduler = parts.find((part) => SCHEDULER.test(part))
      if (!SCALED.test(name) || parts.length < 2 || scheduler === undefined) return []
      const message = `\`${scheduler.trim()}\` is started in every process of \`${name}\`: scaling the type scales the scheduler.`
      return [report(PRC001, place, message)]
    })
  },
}
