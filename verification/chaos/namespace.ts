import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { IN_NAMESPACE, isOwnNamespace } from './small-disk.ts'

const UNSHARE = ['--pid', '--fork', '--kill-child', '--mount-proc', '--mount', '--ipc']
const LIFELINE = 3

/**
 * Runs this program again in a namespace that ends its children with it and hides its mounts. Returns the exit code, or why it
 * failed; `null`: already inside. `mounts`: become root inside, to mount; servers refuse to run as root, even as a mapped one.
 */
export async function enterNamespace(mounts: boolean): Promise<number | { readonly reason: string } | null> {
  if (isOwnNamespace()) {
    // When the parent process has ended, for any reason, this process and all its children must end too.
    new Socket({ fd: LIFELINE })
      .on('close', () => process.exit(1))
      .on('error', () => {})
      .resume()
      .unref()
    return null
  }
  const flags = [UNSHARE, ['--user', mounts ? '--map-root-user' : '--map-current-user', ...UNSHARE]].find(
    (some) => spawnSync('unshare', [...some, 'true']).status === 0,
  )
  if (flags === undefined) return { reason: 'unshare is not allowed here' }
  const folder = mkdtempSync(join(tmpdir(), 'cronce-chaos-'))
  // Servers have their data in here, and another account.
  chmodSync(folder, 0o711)
  const command = [...flags, process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const child = spawn('unshare', command, {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, [IN_NAMESPACE]: '1', TMPDIR: folder },
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill('SIGKILL'))
  const [code] = await once(child, 'exit')
  rmSync(folder, { recursive: true, force: true })
  return code ?? 1
}
