import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { promote, type Server, startPostgres, startStandby } from '../../../../scripts/servers/index.ts'
import type { Database } from '../../src/store/postgres/database.ts'
import { moveEpoch, settleIdentity } from '../../src/store/postgres/identity.ts'
import { migrateUp } from '../../src/store/postgres/migrate.ts'
import { checkSettings } from '../../src/store/postgres/settings.ts'
import { plainDatabase, rowsOf, urlWith } from './plain-database.ts'

describe('The identity of a PostgreSQL store', () => {
  let server: Server
  let database: Database
  before(async () => {
    server = await startPostgres()
    database = await plainDatabase(server.url)
  })
  after(async () => {
    await database.close()
    await server.stop()
  })

  test('is written once, and the same ever after', async () => {
    await migrateUp(database, 'one')
    assert.deepEqual(await settled(database, 'one'), { epoch: 1, codes: [] })
    const [first] = await rowsOf<'system_id' | 'database_id' | 'timeline'>(database, 'select * from one._meta')
    assert.match(String(first!.system_id), /^\d{15,}$/)
    assert.match(String(first!.database_id), /^\d+\.\d+$/)
    assert.equal(Number(first!.timeline), 1)
    assert.deepEqual(await settled(database, 'one'), { epoch: 1, codes: [] })
    assert.deepEqual(await database.script('select * from one._meta'), [first])
  })

  test('a copy of the database is refused, adopted once, and is then its own', async (t) => {
    const original = urlWith(server.url, { database: 'original' })
    await database.script('create database original')
    const before = await plainDatabase(original)
    await migrateUp(before, 'cronce')
    await settled(before, 'cronce')
    await before.script(instanceRow('cronce', 'a', 'live'))
    await before.script(instanceRow('cronce', 'b', 'left'))
    await before.close()
    await database.script('create database copied template original')
    const copy = await plainDatabase(urlWith(server.url, { database: 'copied' }))
    t.after(() => copy.close())

    await assert.rejects(settled(copy, 'cronce'), { code: 'STORE_COPIED' })
    await assert.rejects(
      moveEpoch(copy, 'cronce', () => {}),
      { code: 'STORE_COPIED' },
    )
    assert.equal(await stateOf(copy, 'a'), 'live', 'what is refused is not touched')
    assert.deepEqual(await settled(copy, 'cronce', true), { epoch: 2, codes: ['STORE_ADOPTED'] })
    assert.deepEqual([await stateOf(copy, 'a'), await stateOf(copy, 'b')], ['dead', 'left'])
    assert.deepEqual(await settled(copy, 'cronce'), { epoch: 2, codes: [] })
    assert.deepEqual(await settled(copy, 'cronce', true), { epoch: 2, codes: [] }, 'to adopt again changes nothing')

    const again = await plainDatabase(original)
    t.after(() => again.close())
    assert.deepEqual(await settled(again, 'cronce'), { epoch: 1, codes: [] }, 'the original goes on')
  })

  test('a dump that is restored in the same place is refused', async () => {
    await migrateUp(database, 'dumped')
    await settled(database, 'dumped')
    await database.script(`
create table dumped.restored (like dumped._meta including all);
insert into dumped.restored select * from dumped._meta;
drop table dumped._meta;
alter table dumped.restored rename to _meta`)
    await assert.rejects(settled(database, 'dumped'), { code: 'STORE_COPIED' })
  })

  test('another server is another store, even if its databases have the same numbers', async () => {
    await migrateUp(database, 'moved')
    await settled(database, 'moved')
    await database.script("update moved._meta set system_id = '7000000000000000000'")
    await assert.rejects(settled(database, 'moved'), /comes from another server/)
  })

  test('of many instances that see another timeline one moves the epoch and reports it, and all go on in it', async (t) => {
    await migrateUp(database, 'moving')
    await settled(database, 'moving')
    const many = await Promise.all(Array.from({ length: 6 }, () => plainDatabase(server.url)))
    t.after(() => Promise.all(many.map((one) => one.close())))
    // As a standby finds it that followed a server of another timeline.
    await database.script('update moving._meta set timeline = 7')
    const told: string[] = []
    const epochs = await Promise.all(many.map((one) => moveEpoch(one, 'moving', (code) => told.push(code))))
    assert.deepEqual(
      epochs,
      many.map(() => 2),
    )
    assert.deepEqual(told, ['STORE_PROMOTED'])
  })

  test('the same where transactions are stricter than ours', async (t) => {
    await migrateUp(database, 'strict')
    const many = await Promise.all(Array.from({ length: 6 }, () => plainDatabase(server.url)))
    t.after(() => Promise.all(many.map((one) => one.close())))
    for (const one of many) await one.script("set default_transaction_isolation = 'serializable'")
    assert.deepEqual(
      await Promise.all(many.map((one) => settleIdentity(one, 'strict', { adopt: false, warn: () => {} }))),
      many.map(() => 1),
    )
  })

  test('what the server hides is reported, and not compared', async (t) => {
    await database.script('create database secretive')
    await database.script("create role narrow login password 'narrow'")
    const owner = await plainDatabase(urlWith(server.url, { database: 'secretive' }))
    t.after(() => owner.close())
    await migrateUp(owner, 'cronce', { roles: { runtime: 'narrow' } })
    await owner.script(`
revoke execute on function pg_control_system() from public;
revoke execute on function pg_walfile_name(pg_lsn) from public`)
    const narrow = await plainDatabase(
      urlWith(server.url, { database: 'secretive', user: 'narrow', password: 'narrow' }),
    )
    t.after(() => narrow.close())
    assert.deepEqual(await settled(narrow, 'cronce'), { epoch: 1, codes: ['STORE_IDENTITY_UNKNOWN'] })
    assert.deepEqual(await settled(owner, 'cronce'), { epoch: 1, codes: [] }, 'who knows more writes it down')
    assert.deepEqual(await settled(narrow, 'cronce'), { epoch: 1, codes: ['STORE_IDENTITY_UNKNOWN'] })
    const [{ timeline } = {}] = await owner.script('select timeline::text from cronce._meta')
    assert.equal(timeline, '1', 'and who knows less does not take it back')
  })

  test('a standby is refused, and after its promotion the epoch moves by itself', async (t) => {
    await migrateUp(database, 'failover')
    await settled(database, 'failover')
    const standby = await startStandby({ primary: server })
    const follower = await plainDatabase(standby.url)
    t.after(async () => {
      await follower.close()
      await standby.stop()
    })
    await assert.rejects(settled(follower, 'failover'), { code: 'STORE_READONLY' })

    await promote(standby)
    const told: string[] = []
    assert.equal(await moveEpoch(follower, 'failover', (code, text) => told.push(`${code} ${text}`)), 2)
    assert.equal(told.length, 1)
    assert.match(told[0]!, /^STORE_PROMOTED .* is on timeline 2 and was on 1: .* may run again/)
    assert.deepEqual(await settled(follower, 'failover'), { epoch: 2, codes: [] })
    assert.deepEqual(await settled(database, 'failover'), { epoch: 1, codes: [] }, 'the old server does not know')
  })

  test('settings that break promises are reported, each once', async (t) => {
    await migrateUp(database, 'settings')
    const strange = await plainDatabase(server.url)
    t.after(() => strange.close())
    const told: string[] = []
    const warn = (code: string, message: string): void => {
      told.push(`${code} ${/: (.*?)[ .]/.exec(message)![1]}`)
    }
    await checkSettings(strange, 'settings', warn)
    assert.deepEqual(told, [])
    await strange.script(`
set synchronous_commit = off; set default_transaction_isolation = 'repeatable read'; set idle_session_timeout = '1min';
alter table settings._steps set unlogged; alter table settings._apps enable row level security;
alter table settings._apps force row level security`)
    await checkSettings(strange, 'settings', warn)
    const names = ['synchronous_commit', 'default_transaction_isolation', 'idle_session_timeout', '_steps', 'row']
    assert.deepEqual(
      told,
      names.map((name) => `STORE_SETTING_UNSAFE ${name}`),
    )
  })
})

async function settled(database: Database, schema: string, adopt = false) {
  const codes: string[] = []
  const epoch = await settleIdentity(database, schema, { adopt, warn: (code) => codes.push(code) })
  return { epoch, codes }
}

async function stateOf(database: Database, id: string): Promise<unknown> {
  const [{ state } = {}] = await database.script(`select state from cronce._instances where id = '${id}'`)
  return state
}

function instanceRow(schema: string, id: string, state: string): string {
  return `
insert into ${schema}._instances (namespace, id, number, state, drain, session, renewals, beat, started_at, renewed_at, lease_ms, record)
values ('default', '${id}', (select count(*) + 1 from ${schema}._instances), '${state}', false, true, 1, 1, 0, 0, 15000, '{}')`
}
