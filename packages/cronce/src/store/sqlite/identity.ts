import type { BigIntStats } from 'node:fs'
import { chmod, stat } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OpenOptions } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Host } from './host.ts'
import { epochOf, getMeta, setMeta } from './meta.ts'

/** What distinguishes a file from its copy. `born` is `null` if the file system does not report it. */
export interface FileIdentity {
  readonly inode: string
  readonly born: string | null
}

export async function identify(file: string): Promise<FileIdentity> {
  const found = await stat(file, { bigint: true })
  const born = (await isBirthKept(file, found)) ? String(found.birthtimeNs) : null
  return { inode: String(found.ino), born }
}

/** If a file has no birth time, Node reports its last change. To find out, touch the file and look again. */
async function isBirthKept(file: string, { birthtimeNs, ctimeNs, mode }: BigIntStats): Promise<boolean> {
  if (birthtimeNs === 0n) return false
  if (birthtimeNs !== ctimeNs) return true
  // File systems count time in ticks: a change may fall into that of the birth.
  for (let look = 0; look < 3; look++) {
    await sleep(look * 10)
    try {
      await chmod(file, Number(mode & 0o7777n))
    } catch {
      // Not a file of cronce. Unknown parts are not compared.
      return false
    }
    const again = await stat(file, { bigint: true })
    if (again.ctimeNs !== ctimeNs) return again.birthtimeNs === birthtimeNs
  }
  return false
}

/** The last digits of nanoseconds that stand for a whole millisecond. */
const WHOLE_MS = '000000'

export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.inode === other.inode && (one.born === null || other.born === null || isSameBirth(one.born, other.born))
}

/** In ns, of which Deno tells whole milliseconds only. */
function isSameBirth(one: string, other: string): boolean {
  const isRounded = one.endsWith(WHOLE_MS) || other.endsWith(WHOLE_MS)
  return isRounded ? one.slice(0, -WHOLE_MS.length) === other.slice(0, -WHOLE_MS.length) : one === other
}

/**
 * The epoch of the store. A copy is refused: it knows all schedules of the original, and would run them a second time.
 * Adopted, it goes on in a new epoch, above every token of the original, and without the original's instances.
 */
export function settleIdentity(
  db: DatabaseSync,
  file: string,
  current: FileIdentity,
  host: Host,
  { adopt, warn, now }: Pick<OpenOptions, 'adopt' | 'warn'> & { readonly now: number },
): number {
  const stored = getMeta(db, '', 'identity')
  let epoch = epochOf(db)
  if (stored !== null && !isSameFile(JSON.parse(stored) as FileIdentity, current)) {
    if (!adopt) throw copied(file)
    epoch += 1
    db.prepare("update cronce_instances set state = 'dead', ended_at = ? where state in ('live', 'draining')").run(now)
    setMeta(db, '', 'identity', JSON.stringify(current))
  } else if (stored === null) {
    setMeta(db, '', 'identity', JSON.stringify(current))
  }
  setMeta(db, '', 'epoch', String(epoch))
  noticeMachine(db, file, host, warn)
  return epoch
}

function noticeMachine(db: DatabaseSync, file: string, { machineId }: Host, warn: OpenOptions['warn']): void {
  if (machineId === null) return
  const stored = getMeta(db, '', 'machine')
  if (stored === machineId) return
  setMeta(db, '', 'machine', machineId)
  if (stored === null) return
  warn('STORE_MACHINE_CHANGED', `${file} was last used on another machine. If that one still has it, jobs run twice.`)
}

function copied(file: string): StoreError {
  return new StoreError(
    'STORE_COPIED',
    `${file} is a copy of another store, or was restored from one: its schedules may be running elsewhere.`,
    { hint: 'If the original is gone for good, open it once with adopt; else start with a new file.' },
  )
}
