import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmod,
  chown,
  copyFile,
  link,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { sqlite, sqliteFromUrl } from '../../src/sqlite.ts'
import { loadDriver } from '../../src/store/sqlite/driver.ts'
import { translate } from '../../src/store/sqlite/errors.ts'
import { identify, isSameFile } from '../../src/store/sqlite/identity.ts'
import { MIGRATIONS, migrate } from '../../src/store/sqlite/migrations.ts'
import { connect } from '../../src/store/sqlite/open.ts'
import type { StoreError } from '../../src/store/store-error.ts'
import { applyAll, create, join as joinFleet, loadOne } from '../../src/testing/conformance/bench.ts'
import { beat, claim, creation, runOf, schedule } from '../../src/testing/conformance/samples.ts'
import { afterwards, openFor, openStore, startWorker, tempFolder } from './sqlite-kit.ts'

const NFS = 0x6969
const FUSE = 0x65735546
const OVERLAY = 0x794c7630
const TMPFS = 0x01021994
const EXT4 = 0xef53

/** A file with a schedule in it, closed again. */
async function makeStore(context: TestContext, name = 'store.db'): Promise<string> {
  const file = join(await tempFolder(context), name)
  const store = await openStore(file)
  await create(store, schedule('s'))
  await store.close()
  return file
}

/** As SQLite answers it: without a prototype. */
function row(columns: Record<string, unknown>): Record<string, unknown> {
  return Object.assign(Object.create(null), columns)
}

function edit(file: string, sql: string): void {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

describe('where the file is', () => {
  for (const type of [NFS, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0xc36400, 0xbd00bd0, 0x6b414653]) {
    test(`a network file system is refused: 0x${type.toString(16)}`, async (context) => {
      const file = join(await tempFolder(context), 'store.db')
      const opening = openStore(file, { host: { fileSystem: async () => type }, options: { ephemeral: true } })
      await assert.rejects(opening, { code: 'STORE_ON_NETWORK' })
    })
  }

  test('a file that may be on a network is refused in production, and warned about otherwise', async (context) => {
    const file = join(await tempFolder(context), 'store.db')
    const host = { fileSystem: async () => FUSE }
    await assert.rejects(openStore(file, { host, production: true }), { code: 'STORE_ON_NETWORK' })
    const warnings: string[] = []
    await openFor(context, file, { host, warn: (code) => warnings.push(code) })
    assert.deepEqual(warnings, ['STORE_ON_NETWORK'])
  })

  for (const type of [OVERLAY, TMPFS]) {
    test(`an ephemeral file system is refused in production, unless ephemeral is set: 0x${type.toString(16)}`, async (context) => {
      const file = join(await tempFolder(context), 'store.db')
      const host = { fileSystem: async () => type }
      await assert.rejects(openStore(file, { host, production: true }), { code: 'STORE_EPHEMERAL' })
      await openFor(context, file, { host })
      await openFor(context, file, { host, production: true, options: { ephemeral: true } })
    })
  }

  test('a disk is fine in production', async (context) => {
    const file = join(await tempFolder(context), 'store.db')
    await openFor(context, file, { host: { fileSystem: async () => EXT4 }, production: true })
  })

  test('a folder that is missing, or is not a folder, is reported', async (context) => {
    const folder = await tempFolder(context)
    await assert.rejects(openStore(join(folder, 'missing', 'store.db')), { code: 'STORE_UNREACHABLE' })
    await writeFile(join(folder, 'text'), 'text')
    await assert.rejects(openStore(join(folder, 'text', 'store.db')), { code: 'STORE_UNREACHABLE' })
    await mkdir(join(folder, 'folder'))
    await assert.rejects(openStore(join(folder, 'folder')), { code: 'STORE_UNREACHABLE' })
  })

  test('two names of one file are one store', async (context) => {
    const file = await makeStore(context)
    const other = join(await tempFolder(context), 'link.db')
    await symlink(file, other)
    const store = await openFor(context, file)
    const linked = await openFor(context, other)
    assert.equal(linked.info.name, store.info.name)
    await applyAll(store, [creation(schedule('new'))])
    assert.notEqual(await loadOne(linked, 'new'), null)
  })

  test('a link that led nowhere until the file was made is the same name as later', async (context) => {
    const folder = await tempFolder(context)
    const link = join(folder, 'link.db')
    await symlink(join(folder, 'made.db'), link)
    const first = await openFor(context, link)
    const second = await openFor(context, link)
    assert.equal(first.info.name, second.info.name)
    await joinFleet(first, 'i')
    await stat(join(folder, 'made.db-cronce'))
  })

  test('two names by a hard link would be two stores on one file: refused', async (context) => {
    const file = await makeStore(context)
    const other = `${file}.other`
    await link(file, other)
    for (const name of [file, other]) await assert.rejects(openStore(name), { code: 'STORE_LINKED' })
    await rm(other)
    await openFor(context, file)
  })

  test('a file that was replaced while in use is noticed before anything is written', async (context) => {
    const file = await makeStore(context)
    const store = await openFor(context, file)
    await joinFleet(store, 'i')
    const { token } = runOf(claim((await loadOne(store, 's'))!, { instance: 'i' }))
    await rename(file, `${file}.old`)
    const replaced = { code: 'STORE_REPLACED', notApplied: true }
    await assert.rejects(store.beat(beat('i')), replaced)
    await assert.rejects(store.apply([creation(schedule('new'))]), replaced)
    await assert.rejects(store.transact({ schedule: 's', token, work: () => {}, settle: () => null }), replaced)
    await assert.rejects(stat(file), { code: 'ENOENT' }, 'no new one was made')
    await writeFile(file, '')
    await assert.rejects(store.beat(beat('i')), replaced)
    assert.equal(await loadOne(store, 'new'), null)
  })

  test('a log that another process removed, since the locks of this one were lost, is noticed before anything is written', async (context) => {
    const file = await makeStore(context)
    const store = await openFor(context, file)
    await applyAll(store, [creation(schedule('mine'))])
    // A file that is opened and closed by other means takes the locks of SQLite with it.
    for (const name of [file, `${file}-wal`, `${file}-shm`]) await readFile(name)
    const { ended } = startWorker(context, { task: 'create', file, name: 'other' })
    await ended
    const writing = store.apply([creation(schedule('lost'))])
    await assert.rejects(writing, { code: 'STORE_REPLACED', notApplied: true })
    const found = await loadOne(await openFor(context, file), 'mine')
    assert.notEqual(found, null, 'what was answered before is there')
  })
})

describe('what the file is', () => {
  test('a copy is refused until it is adopted, and is then another epoch with no instance', async (context) => {
    const file = await makeStore(context)
    const original = await openStore(file)
    await joinFleet(original, 'old')
    const first = claim((await loadOne(original, 's'))!, { instance: 'old' })
    await applyAll(original, [first])
    await original.close()
    const copy = `${file}.copy`
    await copyFile(file, copy)

    await assert.rejects(openStore(copy), { code: 'STORE_COPIED' })
    const adopted = await openStore(copy, { adopt: true })
    assert.equal(adopted.info.epoch, original.info.epoch + 1)
    const { instances } = await adopted.listInstances()
    assert.deepEqual(
      instances.map(({ state }) => state),
      ['dead'],
    )
    const second = claim((await loadOne(adopted, 's'))!, { instance: 'new', epoch: adopted.info.epoch, dueAt: 7 })
    assert.ok(BigInt(runOf(second).token) > BigInt(runOf(first).token))
    await adopted.close()

    const again = await openFor(context, copy, { adopt: true })
    assert.equal(again.info.epoch, adopted.info.epoch, 'adopted once, it is its own')
    assert.equal((await openFor(context, file)).info.epoch, original.info.epoch)
  })

  test('a backup put in the place of the file is a copy, also in the same inode', async (context) => {
    const file = await makeStore(context)
    const backup = await readFile(file)
    await rm(file)
    await writeFile(file, backup)
    await assert.rejects(openStore(file), { code: 'STORE_COPIED' })
    await (await openStore(file, { options: { adopt: true } })).close()
  })

  test('the time of birth is known from the first moment, and is that of the file', async (context) => {
    const file = join(await tempFolder(context), 'new')
    await writeFile(file, '')
    const first = await identify(file)
    assert.notEqual(first.born, null)
    await writeFile(file, 'changed')
    assert.deepEqual(await identify(file), first)
    assert.ok(!isSameFile(first, { ...first, born: '1' }), 'the same inode, used again')
    assert.ok(isSameFile(first, { ...first, born: null }), 'where it is not told, the inode decides')
    const known = { ...first, born: '1795124713570196524' }
    assert.ok(isSameFile(known, { ...first, born: '1795124713570000000' }), 'Deno tells milliseconds')
    assert.ok(!isSameFile(known, { ...first, born: '1795124713571000000' }), 'another millisecond')
    assert.ok(!isSameFile(known, { ...first, born: '1795124713570196525' }), 'another nanosecond')
  })

  test('a file that was moved within its disk is the same', async (context) => {
    const file = await makeStore(context)
    await rename(file, `${file}.moved`)
    await openFor(context, `${file}.moved`)
  })

  test('another machine is only warned about', async (context) => {
    const file = await makeStore(context)
    const warnings: string[] = []
    const warn = (code: string) => warnings.push(code)
    await openFor(context, file, { warn, host: { machineId: 'another' } })
    await openFor(context, file, { warn, host: { machineId: 'another' } })
    assert.deepEqual(warnings, ['STORE_MACHINE_CHANGED'])
  })

  test('a file that is not a database is reported as corrupt, with the cause', async (context) => {
    const file = join(await tempFolder(context), 'text.db')
    await writeFile(file, 'Dear diary, this is not a database at all. '.repeat(100))
    await assert.rejects(openStore(file), (error: Error & { code?: string; hint?: string }) => {
      assert.equal(error.code, 'STORE_CORRUPT')
      assert.ok(error.cause instanceof Error && error.hint !== undefined)
      return true
    })
  })

  test('damage in the middle of the file is reported when it is met', async (context) => {
    const file = await makeStore(context)
    const handle = await open(file, 'r+')
    const { size } = await handle.stat()
    // All but the first page, which lists the tables.
    await handle.write(Buffer.alloc(size - 4_096, 0xaa), 0, size - 4_096, 4_096)
    await handle.close()
    await assert.rejects(openStore(file), { code: 'STORE_CORRUPT' })
  })

  test('a file without write permission is reported as read-only', async (context) => {
    const file = await makeStore(context)
    const folder = join(file, '..')
    // Root may write everything, so another user must try.
    const nobody = 65_534
    const asNobody = process.getuid?.() === 0
    if (asNobody) await chown(folder, nobody, nobody)
    await chmod(folder, 0o755)
    await chmod(file, 0o444)
    const script = `
      const { sqlite } = await import(${JSON.stringify(new URL('../../src/sqlite.ts', import.meta.url).href)})
      const options = { namespace: 'default', adopt: false, production: false, warn: () => {} }
      const opening = sqlite(${JSON.stringify(file)}).open(options)
      console.log(await opening.then(() => 'opened', (error) => error.code))`
    const run = (code: string) =>
      promisify(execFile)(
        process.execPath,
        ['--input-type=module', '-e', code],
        asNobody ? { uid: nobody, gid: nobody } : {},
      )
    const canRun = await run(script.split('\n', 2).join('\n')).then(
      () => true,
      () => false,
    )
    if (!canRun) return context.skip('another user may not read this checkout, or this Node.js')
    const { stdout } = await run(script)
    assert.equal(stdout.trim(), 'STORE_READONLY')
  })

  test('a file that another process keeps locked is busy, after a while', async (context) => {
    const file = await makeStore(context)
    const store = await openFor(context, file, { host: { lockPatienceMs: 500 } })
    const other = new DatabaseSync(file)
    afterwards(context, () => other.close())
    other.exec('begin immediate')
    let turns = 0
    const ticking = setInterval(() => turns++, 5)
    await assert.rejects(store.apply([creation(schedule('new'))]), { code: 'STORE_BUSY', notApplied: true })
    clearInterval(ticking)
    assert.ok(turns > 2, 'everything else went on meanwhile')
    assert.notEqual(await loadOne(store, 's'), null, 'and it can be read')
    other.exec('commit')
    await applyAll(store, [creation(schedule('new'))])
  })
})

describe('tables', () => {
  test('a commit is on the disk when it is answered', async (context) => {
    const file = await makeStore(context)
    const db = connect(await loadDriver(), file)
    afterwards(context, () => db.close())
    const FULL = 2
    assert.deepEqual(db.prepare('pragma synchronous').get(), row({ synchronous: FULL }))
    assert.deepEqual(db.prepare('pragma journal_mode').get(), row({ journal_mode: 'wal' }))
  })

  test('tables are made once, however often the file is opened', async (context) => {
    const file = await makeStore(context)
    const schemaOf = () => {
      const db = new DatabaseSync(file)
      const rows = db.prepare('select name, sql from sqlite_schema order by name').all()
      const marks = [db.prepare('pragma application_id').get(), db.prepare('pragma user_version').get()]
      db.close()
      return { rows, marks }
    }
    const before = schemaOf()
    await (await openStore(file)).close()
    await (await openStore(file)).close()
    assert.deepEqual(schemaOf(), before)
    assert.equal(Object.values(before.marks[0]!)[0], 0x63726f6e)
  })

  test('a migration is made once, and what it made possible for older versions is written down', async (context) => {
    const file = await makeStore(context)
    const db = new DatabaseSync(file)
    afterwards(context, () => db.close())
    const additive = [...MIGRATIONS, { compatible: 1, sql: 'alter table cronce_apps add column colour text' }]
    migrate(db, file, additive)
    migrate(db, file, additive)
    assert.deepEqual(db.prepare("select value from cronce_meta where key = 'schema'").get(), row({ value: '2' }))
    const store = await openFor(context, file)
    assert.notEqual(await loadOne(store, 's'), null, 'one release back works beside it')
  })

  test('tables of a newer version that this one would misread are refused, also while it runs', async (context) => {
    const file = await makeStore(context)
    const store = await openFor(context, file)
    await joinFleet(store, 'i')
    edit(file, "update cronce_meta set value = '3' where key in ('schema', 'compatible')")
    await assert.rejects(openStore(file), { code: 'STORE_SCHEMA_NEWER' })
    await assert.rejects(store.beat(beat('i')), { code: 'STORE_SCHEMA_NEWER', notApplied: true })
  })

  test("another application's file is used beside its own tables, and keeps its marks", async (context) => {
    const file = join(await tempFolder(context), 'app.db')
    edit(file, 'pragma application_id = 77; pragma user_version = 12; create table orders (id integer primary key)')
    const store = await openStore(file)
    await create(store, schedule('s'))
    await store.close()
    const db = new DatabaseSync(file)
    afterwards(context, () => db.close())
    assert.deepEqual(db.prepare('pragma application_id').get(), row({ application_id: 77 }))
    assert.deepEqual(db.prepare('pragma user_version').get(), row({ user_version: 12 }))
    // SQLite keeps the last number of our own tables in a table of its own.
    const names = db.prepare("select name from sqlite_schema where type = 'table' order by name").all()
    const foreign = names
      .map((named) => String(Object.values(named)[0]))
      .filter((name) => !/^(cronce|sqlite)_/.test(name))
    assert.deepEqual(foreign, ['orders'])
  })

  test('schedules that a newer version wrote are left alone, with one warning', async (context) => {
    const file = await makeStore(context)
    edit(file, "update cronce_schedules set format = 9, state = 'in another way', wake_at = 1")
    const warnings: string[] = []
    const store = await openFor(context, file, { warn: (code) => warnings.push(code) })
    await applyAll(store, [creation(schedule('known', { wakeAt: 2 }))])
    assert.deepEqual(
      (await store.load(['s', 'known'])).schedules.map(({ id }) => id),
      ['known'],
    )
    // The limit is not used up by what is left alone.
    const due = await store.due({ jobs: [{ job: 'report', buckets: '1'.repeat(256) }], patienceMs: 0, limit: 1 })
    assert.deepEqual([due.schedules.map(({ id }) => id), due.mineAt], [['known'], null])
    assert.deepEqual(
      (await store.listSchedules({ after: null, limit: 10 })).items.map(({ id }) => id),
      ['known'],
    )
    assert.deepEqual(warnings, ['STORE_ROW_NEWER'])
  })
})

describe('options', () => {
  test('what is not a plain file is refused', () => {
    const invalid = { code: 'STORE_OPTIONS_INVALID' }
    for (const file of ['', ':memory:', 'file:store.db', 'sqlite:store.db', 'a\0b']) {
      assert.throws(() => sqlite(file), invalid, file)
    }
    assert.throws(() => sqlite({ file: 'a', efemeral: true } as never), invalid)
    assert.throws(() => sqlite({ file: 'a', adopt: 'yes' } as never), invalid)
    assert.throws(() => sqlite(undefined as never), invalid)
  })

  test('a URL names the file', () => {
    assert.equal(sqliteFromUrl('sqlite:store.db').name, sqlite('store.db').name)
    assert.equal(sqliteFromUrl('sqlite:./store.db?ephemeral&adopt').name, sqlite('store.db').name)
    assert.equal(sqliteFromUrl('sqlite:/data/store.db').name, 'sqlite:/data/store.db')
    assert.equal(sqliteFromUrl('sqlite:///data/store.db').name, 'sqlite:/data/store.db')
    for (const url of ['sqlite:', 'sqlite://host/store.db', 'sqlite:store.db?colour', 'postgres://host']) {
      assert.throws(() => sqliteFromUrl(url), { code: 'STORE_OPTIONS_INVALID' }, url)
    }
  })

  test('content that SQLite refuses has its own code', (context) => {
    const database = new DatabaseSync(':memory:')
    context.after(() => database.close())
    database.exec('create table numbers (number integer primary key)')
    const codeOf = (sql: string): unknown => {
      try {
        return database.prepare(sql).all()
      } catch (error) {
        return (translate(error, 'a file', true) as StoreError).code
      }
    }
    assert.equal(codeOf('select zeroblob(2000000000)'), 'STORE_REFUSED')
    assert.equal(codeOf("insert into numbers values ('none')"), 'STORE_REFUSED')
    assert.equal(codeOf('insert into numbers values (1), (1)'), 'STORE_FAILED')
  })

  test('calls on a closed store fail with a code, and it may be closed again', async (context) => {
    const file = join(await tempFolder(context), 'store.db')
    const store = await openStore(file)
    const last = store.apply([creation(schedule('s'))])
    await Promise.all([store.close(), store.close()])
    assert.deepEqual((await last).results, [{ kind: 'applied' }], 'what was asked for before is done')
    for (const call of [store.load(['s']), store.apply([]), store.beat(beat('i')), store.probe(['i'])]) {
      await assert.rejects(call, { code: 'STORE_CLOSED', notApplied: true })
    }
  })
})
