import type { LockFlaw } from '../facts/lock.ts'
import { type Rule, report } from './rule.ts'

const PROBLEMS: { readonly [flaw in LockFlaw['flaw']]?: (text: string) => string } = {
  'check-then-set': (text) => `The lock is read and then written (\`${text}\`): two instances can both find it free.`,
  'no-expiry': (text) => `\`${text}\` takes the lock without an expiry: a crash blocks the job for ever.`,
  'renewed-without-owner': (text) =>
    `The lock is renewed in several steps (${text}): it can belong to another instance by then.`,
  'released-without-owner': (text) =>
    `\`${text}\` frees the lock without checking the owner: it can free the lock of another instance.`,
}

export const FLT004: Rule = {
  id: 'FLT004',
  level: 'warning',
  isScored: true,
  title: 'unsafe lock',
  why: 'A crash blocks the job for ever, or one holder frees the lock of another.',
  fix: 'Take the lock with one atomic command that sets an expiry and an owner, and compare the owner in the same command that frees it.',
  bad: { 'cron-lock.js': 'export async function releaseCronLock(name) {\n  await redis.del(`cron:${name}`)\n}\n' },
  good: {
    'cron-lock.js':
      'export async function releaseCronLock(name) {\n  await redis.eval(RELEASE_IF_OWNER, 1, `cron:${name}`, owner)\n}\n',
  },
  check: (project) =>
    project.all('lock-flaw').flatMap(({ flaw, place, text }) => {
      const problem = PROBLEMS[flaw]
      return problem === undefined ? [] : [report(FLT004, place, problem(text))]
    }),
}
