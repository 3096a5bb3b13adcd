import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import type { Account } from './messages.ts'

/**
 * PostgreSQL and PgBouncer refuse to run as root, and the others have no need to. `nobody` is the one
 * unprivileged user every machine has, with or without the servers' packages installed.
 */
export function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8', timeout: 60_000 }))
  return { uid: id('-u'), gid: id('-g') }
}

/** The machine's temporary folder, unless it is root's own and the account could not walk into it. */
export function temporaryFolder(account: Account | undefined): string {
  const folder = tmpdir()
  return account === undefined || isOpenToAll(folder) ? folder : '/tmp'
}

/** Whether every user can enter the folder. */
export function isOpenToAll(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false
  const parent = dirname(folder)
  return parent === folder || isOpenToAll(parent)
}
