import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'

/** A disk of its own that can be filled up without harm, where the system lets us mount one. */
export interface SmallDisk {
  readonly path: string
  /** Why it is only a folder. */
  readonly reason: string | null
  unmount(): void
}

const SIZE = '64m'

export function mountSmallDisk(path: string): SmallDisk {
  mkdirSync(path, { recursive: true })
  if (!isOwnNamespace()) return { path, reason: 'not in a mount namespace of its own', unmount() {} }
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'chaos', path])
  if (status !== 0) return { path, reason: error?.message ?? String(stderr).trim(), unmount() {} }
  return { path, reason: null, unmount: () => void spawnSync('umount', ['--lazy', path]) }
}

/** Set by `namespace.ts` for what runs in one. */
export const IN_NAMESPACE = 'CRONCE_CHAOS_NAMESPACE'

export function isOwnNamespace(): boolean {
  return process.env[IN_NAMESPACE] === '1'
}
