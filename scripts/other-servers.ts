/**
 * The tests of a store on other servers than those of this machine: the newer Redis, the Valkey and the newer etcd of Debian. Nothing is installed.
 *
 *     node scripts/other-servers.ts redis|valkey|etcd… [files…]
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OTHERS, type Other, unpackOther } from './servers/debian.ts'
import { WANTED_ETCD, WANTED_REDIS } from './servers/programs.ts'

const REDIS = { variable: WANTED_REDIS, files: 'packages/cronce/test/store/redis-*.test.ts', isLong: false }
/** All rules of the suite, not the share of them that every run has. */
const ETCD = { variable: WANTED_ETCD, files: 'packages/cronce/test/store/etcd-*.test.ts', isLong: true }
const TESTS = { redis: REDIS, valkey: REDIS, etcd: ETCD } as const satisfies Record<Other, object>
const isOther = (word: string): word is Other => Object.hasOwn(OTHERS, word)
const words = process.argv.slice(2)
const wanted = words.filter(isOther)
const files = words.filter((word) => !isOther(word))

for (const other of wanted) {
  const { variable, files: own, isLong } = TESTS[other]
  const folder = mkdtempSync(join(tmpdir(), 'cronce-other-server-'))
  // If the tests run as root, the servers run as another user.
  chmodSync(folder, 0o755)
  try {
    const unpacked = await unpackOther(other, folder)
    if ('reason' in unpacked) {
      console.log(`Skipped: ${unpacked.reason}.`)
      continue
    }
    console.log(`On ${unpacked.version}:`)
    const env = { ...process.env, ...(isLong ? { CRONCE_LONG: '1' } : {}), [variable]: unpacked.bin }
    const args = ['--test', '--test-concurrency=2', ...(files.length > 0 ? files : [own])]
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env })
    if (status !== 0) process.exitCode = status ?? 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
