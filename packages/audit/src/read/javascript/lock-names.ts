import { wordsOf } from './ast.ts'

const LOCKS = new Set(['lock', 'locks', 'mutex', 'lease', 'semaphore', 'redlock'])
const ACQUIRE = new Set(
  'acquire try with get obtain take claim run using under ensure set check hold grab request can execute wrap require use'.split(
    ' ',
  ),
)
const RELEASE = new Set(['release', 'unlock', 'free', 'delete', 'remove', 'clear', 'drop', 'del'])
const METHODS = new Set(
  'acquire tryacquire lock trylock run using use execute runexclusive take obtain withlock wrap do once'.split(' '),
)
/** Words after which `lock` is the verb of a sentence about the schedule, not about a user or an account. */
const AFTER_LOCK = new Set(['and', 'for', 'job', 'cron', 'or', 'task', 'run', 'acquire', 'acquired'])

/** Whether a call by this path takes a lock: `withLock`, `acquireCronLock`, `this.locks.acquire`, `redlock.using`. */
export function isLockCall(path: readonly string[]): boolean {
  const names = path.filter((name) => name !== '()' && name !== '?')
  const method = names.at(-1)
  if (method === undefined) return false
  if (isLockName(method)) return true
  return (
    METHODS.has(method.toLowerCase()) &&
    names.slice(0, -1).some((name) => wordsOf(name).some((word) => LOCKS.has(word)))
  )
}

function isLockName(name: string): boolean {
  const words = wordsOf(name)
  if (words.some((word) => RELEASE.has(word))) return false
  if (words.includes('exclusive') || words.includes('exclusively')) return words[0] === 'run'
  const at = words.findIndex((word) => LOCKS.has(word))
  if (at === -1) return false
  if (at === 0) return words.length === 1 || AFTER_LOCK.has(words[1]!)
  return words.slice(0, at).some((word) => ACQUIRE.has(word))
}

/** Whether a call by this path gives a lock back. */
export function isReleaseCall(path: readonly string[]): boolean {
  const names = path.filter((name) => name !== '()' && name !== '?')
  const method = names.at(-1)
  if (method === undefined) return false
  const words = wordsOf(method)
  if (words[0] === 'unlock' || words.at(-1) === 'unlock') return true
  if (!words.some((word) => RELEASE.has(word))) return false
  if (words.some((word) => LOCKS.has(word))) return true
  return words[0] === 'release' || names.slice(0, -1).some((name) => wordsOf(name).some((word) => LOCKS.has(word)))
}

/** `isLeader`, `leaderElection`; not a leader board. */
export function isLeaderName(name: string): boolean {
  const words = wordsOf(name)
  return (
    (words.includes('leader') || words.includes('leadership')) && !words.includes('board') && !words.includes('team')
  )
}

const JOBS = new Set(
  'cron crons cronjob cronjobs job jobs schedule schedules scheduled scheduler task tasks leader election distributed cluster instance'.split(
    ' ',
  ),
)

/** Whether a file, function or class is named like a guard of schedules: `cronLock.js`, `withJobLock`, `LeaderElection`. */
export function isScheduleLockName(name: string): boolean {
  const words = wordsOf(name)
  if (words.includes('leader') && (words.includes('election') || words.includes('elector'))) return true
  return words.some((word) => LOCKS.has(word) || word === 'locking') && words.some((word) => JOBS.has(word))
}

/** A bare `acquire` or `tryAcquire`, which takes a lock where everything around it is about locks. */
export function isAcquireCall(path: readonly string[]): boolean {
  const words = wordsOf(path.at(-1) ?? '')
  return words[0] === 'acquire' || words[0] === 'obtain' || (words[0] === 'try' && words[1] === 'acquire')
}
