import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemHost } from '../../../packages/cronce/src/store/sqlite/host.ts'
import { sqlite, sqliteOn } from '../../../packages/cronce/src/store/sqlite/sqlite.ts'
import type { EffectRow } from '../order.ts'
import { mountSmallDisk } from '../small-disk.ts'
import type { ChaosStore, PreparedStore, StoreModule } from './store.ts'

export const sqliteChaos: ChaosStore = {
  name: 'sqlite',
  mounts: true,
  transacts: true,
  async prepare(folder, { wall }): Promise<PreparedStore> {
    const disk = mountSmallDisk(join(folder, 'disk'))
    const file = join(disk.path, 'store.db')
    const user = new DatabaseSync(file, { timeout: 5_000 })
    user.exec(`pragma journal_mode = wal;
      create table effects (schedule text, due_at integer, nonce text, attempt integer, token text, node text, at real);
      create table probes (count integer);
      insert into probes values (0)`)
    // No timeout: the holder of the lock may be stopped, and only the controller resumes it.
    const prober = new DatabaseSync(file, { timeout: 0 })
    return {
      module: import.meta.filename,
      url: file,
      source: sqliteOn(file, { ...systemHost(), wall }),
      network: null,
      // The host's, as the processes of the fleet see it.
      now: async () => wall(),
      probe: () => writeProbe(prober),
      clock: 'host',
      server: null,
      isFree: () => canWrite(file),
      disk: disk.reason === null ? ballast(join(disk.path, 'ballast')) : { reason: disk.reason },
      effects: async () => user.prepare('select * from effects').all().map(rowOf),
      async close() {
        user.close()
        prober.close()
        disk.unmount()
      },
    }
  },
}

export const source: StoreModule['source'] = (url) => sqlite(url)

export const isOneWriter: StoreModule['isOneWriter'] = true

export const insert: StoreModule['insert'] = (tx, { schedule, dueAt, nonce, attempt, token, node, at }) => {
  const statement = (tx as DatabaseSync).prepare('insert into effects values (?, ?, ?, ?, ?, ?, ?)')
  statement.run(schedule, dueAt, nonce, attempt, token, node, at)
}

function rowOf({ schedule, due_at, nonce, attempt, token, node, at }: Record<string, unknown>): EffectRow {
  return {
    schedule: String(schedule),
    dueAt: Number(due_at),
    nonce: String(nonce),
    attempt: Number(attempt),
    token: String(token),
    node: String(node),
    at: Number(at),
  }
}

const SQLITE_BUSY = 5
const BUSY_LOOK_MS = 5

/** Waits for the write lock as the product does. */
async function writeProbe(db: DatabaseSync): Promise<void> {
  for (;;) {
    try {
      db.exec('update probes set count = count + 1')
      return
    } catch (error) {
      const { errcode } = error as { readonly errcode?: number }
      if (errcode === undefined || (errcode & 0xff) !== SQLITE_BUSY) throw error
      await sleep(BUSY_LOOK_MS)
    }
  }
}

/** Longer than any write of a process that is not stopped. */
const WRITE_MS = 100

function canWrite(file: string): boolean {
  const db = new DatabaseSync(file, { timeout: WRITE_MS })
  try {
    db.exec('begin immediate; rollback')
    return true
  } catch {
    return false
  } finally {
    db.close()
  }
}

const CHUNK = Buffer.alloc(1 << 20)

function ballast(path: string): { fill(): void; free(): void } {
  return {
    fill() {
      const file = openSync(path, 'w')
      // Smaller and smaller pieces, until not even a page is left.
      for (let size = CHUNK.length; size >= 4_096; ) {
        try {
          if (writeSync(file, CHUNK, 0, size) < size) size /= 4
        } catch {
          size /= 4
        }
      }
      closeSync(file)
    },
    free: () => rmSync(path, { force: true }),
  }
}
