import type { LockFlaw } from '../facts/lock.ts'
import { type Rule, report } from './rule.ts'

const PROBLEMS: { readonly [flaw in LockFlaw['flaw']]?: (text: string) => string } = {
  'freed-at-end': (text) =>
    `\`${text}\` frees the lock when the work ends: an instance with a slower clock takes it again for the same fire.`,
}

export const FLT008: Rule = {
  id: 'FLT008',
  level: 'warning',
  isScored: true,
  title: 'mutex named after the job and freed when it ends',
  why: 'An instance whose clock is 100 ms behind takes the free lock again and runs the same fire a second time.',
  fix: 'Name the lock after the job and the fire time, and let it expire instead of freeing it.',
  bad: {
    'cron-lock.js':
      'export async function withCronLock(name, work) {\n  if (!(await acquireLock(name))) return\n  try {\n    await work()\n  } finally {\n    await releaseLock(name)\n  }\n}\n',
  },
  good: {
    'cron-lock.js':
      'export async function withCronLock(name, slot, work) {\n  if (!(await acquireLock(`${name}:${slot}`))) return\n  await work()\n}\n',
  },
  check: (project) =>
    project.all('lock-flaw').flatMap(({ flaw, place, text }) => {
      const problem = PROBLEMS[flaw]
      return problem === undefined ? [] : [report(FLT008, place, problem(text))]
    }),
}
