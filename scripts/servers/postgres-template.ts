import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isOpenToAll, serverAccount } from './account.ts'
import type { Command } from './messages.ts'
import { POSTGRES_DATA } from './shared-memory.ts'

const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/servers')

/**
 * A data directory that initdb made once. Copying it takes a quarter of the work, and tests start dozens of servers.
 * Copies share the password and the system identifier.
 */
export interface Template {
  readonly password: string
  /** Makes the data directory in the folder where it is run; `null`: there is none to copy yet. */
  readonly copy: Command | null
  /** Keep what initdb has made below this folder, before a server runs on it. */
  keep(directory: string): void
}

/** Of this version, for this account, made with these arguments. */
export function postgresTemplate(bin: string, args: readonly string[]): Template {
  const { mtimeMs, size } = statSync(join(bin, 'postgres'))
  const account = serverAccount()
  const identity = JSON.stringify([bin, mtimeMs, size, args, account ?? process.getuid?.()])
  const folder = join(CACHE, `postgres-${createHash('sha256').update(identity).digest('hex').slice(0, 16)}`)
  const known = passwordIn(folder)
  if (known !== null) {
    return {
      password: known,
      copy: { file: 'cp', args: ['-R', join(folder, POSTGRES_DATA), POSTGRES_DATA] },
      keep: () => {},
    }
  }
  const password = randomBytes(16).toString('hex')
  return {
    password,
    copy: null,
    keep(directory) {
      mkdirSync(CACHE, { recursive: true })
      // Root's own folder, into which the account could not walk.
      if (account !== undefined && !isOpenToAll(CACHE)) return
      const made = `${folder}.${process.pid}`
      mkdirSync(made)
      execFileSync('cp', ['-a', join(directory, POSTGRES_DATA), join(made, POSTGRES_DATA)])
      writeFileSync(join(made, 'password'), password, { mode: 0o600 })
      try {
        renameSync(made, folder)
      } catch {
        // Another process was quicker.
        rmSync(made, { recursive: true, force: true })
      }
    },
  }
}

function passwordIn(folder: string): string | null {
  try {
    return readFileSync(join(folder, 'password'), 'utf8')
  } catch {
    return null
  }
}
