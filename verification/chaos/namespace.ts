import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { IN_NAMESPACE, isOwnNamespace } from './small-disk.ts'

const UNSHARE = ['--pid', '--fork', '--kill-child', '--mount-proc', '--mount']
const LIFELINE = 3

/**
 * Run this program again where nothing that it starts can outlive it, and where what it mounts is seen by nobody else. Returns how
 * that ended, or why it could not be done; `null`: it is there already.
 */
export async function enterNamespace(): Promise<number | { readonly reason: string } | null> {
  if (isOwnNamespace()) {
    // When whoever started this is gone, however that happened, this must be, too: and all processes in here with it.
    new Socket({ fd: LIFELINE })
      .on('close', () => process.exit(1))
      .on('error', () => {})
      .resume()
      .unref()
    return null
  }
  const flags = [UNSHARE, ['--user', '--map-root-user', ...UNSHARE]].find(
    (some) => spawnSync('unshare', [...some, 'true']).status === 0,
  )
  if (flags === undefined) return { reason: 'unshare is not allowed here' }
  const folder = mkdtempSync(join(tmpdir(), 'cronce-chaos-'))
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
