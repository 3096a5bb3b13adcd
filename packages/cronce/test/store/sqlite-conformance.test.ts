import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemHost } from '../../src/store/sqlite/host.ts'
import { sqliteOn } from '../../src/store/sqlite/sqlite.ts'
import { describeStore } from '../../src/testing/conformance/describe-store.ts'

describeStore('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-sqlite-'))
  const file = join(folder, 'store.db')
  const host = systemHost()
  let passed = 0
  const wall = host.wall()
  const source = sqliteOn(file, { ...host, wall: () => wall + passed, mono: () => passed })
  const user = new DatabaseSync(file, { timeout: 1_000 })
  user.exec('pragma journal_mode = wal; create table texts (text text not null)')
  return {
    source,
    clock: {
      advance: (ms) => {
        passed += ms
      },
    },
    database: {
      isSynchronous: true,
      write: (tx, text) => {
        tx.prepare('insert into texts values (?)').run(text)
      },
      read: async () =>
        user
          .prepare('select text from texts')
          .all()
          .map((row) => String(Object.values(row)[0])),
      transaction: async (work) => {
        user.exec('begin immediate')
        try {
          const value = await work(user)
          user.exec('commit')
          return value
        } catch (error) {
          user.exec('rollback')
          throw error
        }
      },
    },
    dispose: async () => {
      user.close()
      await rm(folder, { recursive: true })
    },
  }
})
