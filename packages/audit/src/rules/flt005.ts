import type { LockFlaw } from '../facts/lock.ts'
import { type Rule, report } from './rule.ts'

const PROBLEMS: { readonly [flaw in LockFlaw['flaw']]?: (text: string) => string } = {
  'pooled-session': (text) =>
    `\`${text}\` takes a session lock on whichever connection the pool gives: the unlock can use another.`,
}

export const FLT005: Rule = {
  id: 'FLT005',
  level: 'warning',
  isScored: true,
  title: 'session advisory lock through a pool',
  why: 'Lock and unlock reach different connections: the lock is never freed, or freed while the work runs.',
  fix: 'Take one client from the pool and use it for lock, work and unlock, or use `pg_try_advisory_xact_lock` inside one transaction.',
  bad: {
    'lock.js':
      "import { Pool } from 'pg'\nconst pool = new Pool()\nexport const tryLock = (id) => pool.query('SELECT pg_try_advisory_lock($1)', [id])\n",
  },
  good: {
    'lock.js':
      "import { Pool } from 'pg'\nconst pool = new Pool()\nexport async function tryLock(id) {\n  const client = await pool.connect()\n  return client.query('SELECT pg_try_advisory_lock($1)', [id])\n}\n",
  },
  check: (project) =>
    project.all('lock-flaw').flatMap(({ flaw, place, text }) => {
      const problem = PROBLEMS[flaw]
      return problem === undefined ? [] : [report(FLT005, place, problem(text))]
    }),
}
