import { execFileSync } from 'node:child_process'
import { type Report, ROOT } from './report.ts'

/**
 * Commits that may change the code that a report covers before its text must be marked as outdated. About a week of steady work, or
 * one day of intense work: long enough to land work without measuring, short enough that readers are told.
 */
export const ALLOWED_COMMITS = 40

/** Commits since its oldest part that changed what the report covers. `null`: this clone does not have that commit. */
export function commitsSince({ measured, covers }: Pick<Report, 'measured' | 'covers'>): number | null {
  const counts = measured.map(({ commit }) => countSince(commit.replace('-dirty', ''), covers))
  const known = counts.filter((count) => count !== null)
  return known.length < counts.length ? null : Math.max(0, ...known)
}

/** A shallow clone has no history to count in. */
export function isShallow(): boolean {
  return run('rev-parse', '--is-shallow-repository') === 'true'
}

function countSince(commit: string, paths: readonly string[]): number | null {
  const count = run('rev-list', '--count', '--no-merges', `${commit}..HEAD`, '--', ...paths)
  return count === null ? null : Number(count)
}

function run(...args: string[]): string | null {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return null
  }
}
