import { spawnSync } from 'node:child_process'
import { IN_NAMESPACE, isOwnNamespace } from './small-disk.ts'

const UNSHARE = ['--pid', '--fork', '--kill-child', '--mount-proc', '--mount']

/**
 * Run this program again where nothing that it starts can outlive it, and where what it mounts is seen by nobody else. Returns how
 * that ended, or why it could not be done; `null`: it is there already.
 */
export function enterNamespace(): number | { readonly reason: string } | null {
  if (isOwnNamespace()) return null
  const flags = [UNSHARE, ['--user', '--map-root-user', ...UNSHARE]].find(
    (some) => spawnSync('unshare', [...some, 'true']).status === 0,
  )
  if (flags === undefined) return { reason: 'unshare is not allowed here' }
  const { status } = spawnSync('unshare', [...flags, process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, [IN_NAMESPACE]: '1' },
  })
  return status ?? 1
}
