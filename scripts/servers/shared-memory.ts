import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where a PostgreSQL server keeps its data, within the directory of its supervisor. */
export const POSTGRES_DATA = 'data'

/** The System V shared memory of the PostgreSQL server in this directory, if it ended without releasing it. */
export function leftSharedMemory(directory: string): string | undefined {
  try {
    // An orderly end removes this file and the memory. Line 7 holds the memory's key and id.
    const lines = readFileSync(join(directory, POSTGRES_DATA, 'postmaster.pid'), 'utf8').split('\n')
    return lines[6]?.trim().split(/\s+/)[1]
  } catch {
    return undefined
  }
}

/** The kernel keeps this memory when its server is killed; without the directory its id would be lost. */
export function releaseSharedMemory(directory: string): void {
  const id = leftSharedMemory(directory)
  if (id !== undefined) spawnSync('ipcrm', ['-m', id], { stdio: 'ignore', timeout: 60_000 })
}
