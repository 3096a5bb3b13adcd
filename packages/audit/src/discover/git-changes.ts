import { execFileSync } from 'node:child_process'

/** What git says about the working tree. */
export interface GitChanges {
  /** `git diff --unified=0`, with paths relative to the folder. */
  readonly diff: string
  readonly untracked: readonly string[]
}

const MAX_BYTES = 200_000_000

/** The changes of a folder since a commit, branch or tag. Throws what git says if there is none. */
export function gitChanges(folder: string, ref: string): GitChanges {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', folder, ...args], {
      encoding: 'utf8',
      maxBuffer: MAX_BYTES,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  // A ref that begins with a dash would be an option.
  const base = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`).trim()
  const diff = git('diff', '--no-ext-diff', '--no-color', '--no-textconv', '--relative', '--unified=0', base, '--', '.')
  const untracked = git('ls-files', '--others', '--exclude-standard', '-z').split('\0')
  return { diff, untracked: untracked.filter((path) => path !== '') }
}
