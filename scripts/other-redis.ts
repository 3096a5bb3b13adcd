/**
 * The tests of the Redis store on other servers than the Redis of this machine: the newer Redis and the Valkey of Debian. Nothing is installed.
 *
 *     node scripts/other-redis.ts [redis|valkey] [files…]
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OTHERS, type Other, unpackOther } from './servers/debian.ts'
import { WANTED_REDIS } from './servers/programs.ts'

const FILES = ['packages/cronce/test/store/redis-*.test.ts']
const isOther = (word: string): word is Other => Object.hasOwn(OTHERS, word)
const words = process.argv.slice(2)
const wanted = words.filter(isOther)
const files = words.filter((word) => !isOther(word))

for (const other of wanted.length > 0 ? wanted : (Object.keys(OTHERS) as Other[])) {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-other-redis-'))
  // If the tests run as root, the servers run as another user.
  chmodSync(folder, 0o755)
  try {
    const unpacked = await unpackOther(other, folder)
    if ('reason' in unpacked) {
      console.log(`Skipped: ${unpacked.reason}.`)
      continue
    }
    console.log(`On ${unpacked.version}:`)
    const env = { ...process.env, [WANTED_REDIS]: unpacked.bin }
    const args = ['--test', '--test-concurrency=2', ...(files.length > 0 ? files : FILES)]
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env })
    if (status !== 0) process.exitCode = status ?? 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
