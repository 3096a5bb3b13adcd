import type { LockFlaw } from '../facts/lock.ts'
import { type Rule, report } from './rule.ts'

const PROBLEMS: { readonly [flaw in LockFlaw['flaw']]?: (text: string) => string } = {
  'in-memory': (text) => `\`${text}\` keeps its locks in the memory of one process: other instances do not see them.`,
  'memory-fallback': (text) =>
    `\`${text}\` falls back to the memory of one process: other instances do not see these locks.`,
  'metadata-only': (text) =>
    `Nest runs neither interceptors nor guards for schedules, so \`${text}\` has no effect here.`,
}

export const FLT009: Rule = {
  id: 'FLT009',
  level: 'error',
  isScored: true,
  title: 'guard without effect',
  why: 'The code reads as protected, and every instance runs the job.',
  fix: 'Keep the lock in a store that all instances share.',
  bad: {
    'cron-lock.js':
      'const locks = new Map()\nexport function acquireLock(name) {\n  if (locks.has(name)) return false\n  locks.set(name, Date.now())\n  return true\n}\n',
  },
  good: {
    'cron-lock.js':
      "export async function acquireLock(name) {\n  return (await redis.set(name, owner, 'EX', 60, 'NX')) === 'OK'\n}\n",
  },
  check: (project) =>
    project.all('lock-flaw').flatMap(({ flaw, place, text }) => {
      const problem = PROBLEMS[flaw]
      return problem === undefined ? [] : [report(FLT009, place, problem(text))]
    }),
}
