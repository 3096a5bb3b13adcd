import type { LockFlaw } from '../facts/lock.ts'
import { type Rule, report } from './rule.ts'

const PROBLEMS: { readonly [flaw in LockFlaw['flaw']]?: (text: string) => string } = {
  'fails-open': (text) => `\`${text}\` lets the job run when its store cannot be asked.`,
}

export const FLT010: Rule = {
  id: 'FLT010',
  level: 'info',
  isScored: false,
  title: 'guard fails open',
  why: 'Jobs run twice exactly when the store is in trouble.',
  fix: 'Return false when the store cannot be asked, or accept the duplicate and make the job idempotent.',
  bad: {
    'cron-lock.js':
      "export async function acquireCronLock(name) {\n  try {\n    return (await redis.set(name, owner, 'EX', 60, 'NX')) === 'OK'\n  } catch {\n    return true\n  }\n}\n",
  },
  good: {
    'cron-lock.js':
      "export async function acquireCronLock(name) {\n  try {\n    return (await redis.set(name, owner, 'EX', 60, 'NX')) === 'OK'\n  } catch {\n    return false\n  }\n}\n",
  },
  check: (project) =>
    project.all('lock-flaw').flatMap(({ flaw, place, text }) => {
      const problem = PROBLEMS[flaw]
      return problem === undefined ? [] : [report(FLT010, place, problem(text))]
    }),
}
