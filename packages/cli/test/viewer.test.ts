import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { cronce } from 'cronce'
import pg from 'pg'
import { type Server, startPostgres } from '../../../scripts/servers/index.ts'
import { ask } from './cronce.ts'
import { until } from './steer-kit.ts'

describe('a role of PostgreSQL that may read only the views', () => {
  let server: Server
  const urlOf = (user: string): string => {
    const url = new URL(server.url)
    url.username = user
    url.password = 'x'
    return url.href
  }
  const say = (user: string, ...args: string[]) => ask([...args, '--store', urlOf(user)], {})
  before(async () => {
    server = await startPostgres({ settings: { fsync: 'off' } })
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    for (const role of ['looks', 'nobody']) await admin.query(`create role ${role} login password 'x'`)
    await admin.end()
    const missing = await ask(['migrate', 'up', '--viewer', 'no_such_role', '--store', server.url])
    assert.match(missing.stderr, /role "no_such_role" does not exist.*\n.*create role/)
    const up = await ask(['migrate', 'up', '--viewer', 'looks', '--store', server.url])
    assert.equal(up.status, 0, up.stderr)
    const app = cronce({ store: server.url, app: 'shop', logger: false, signals: false })
    app
      .job('backup', { cron: '0 3 * * *', tz: 'Europe/Berlin' }, () => {})
      .job('broken', {}, () => {
        throw new Error('no')
      })
    await app.start()
    const { fire } = await app.schedules.trigger('broken')
    await until(async () => (await app.fires.get(fire)).state === 'failed')
    await app.lock('x', () => {})
    await app.schedules.create('report:ada', { job: 'backup', every: '1h' })
    await app.schedules.pause('report:ada')
    await app.stop()
  })
  after(() => server.stop())

  test('lists what is scheduled, as other roles do', async () => {
    const table = await say('looks', 'list')
    assert.equal(table.status, 0, table.stderr)
    assert.match(table.stdout, /\nbackup +active +At 03:00, every day \(Europe\/Berlin\) +\w{3} \d{4}-/)
    assert.match(table.stdout, /\nbroken +active +When triggered .*▄\n/)
    assert.match(table.stdout, /\nreport:ada +paused +Every 1h +- /)
    assert.doesNotMatch(table.stdout, /cronce:lock/)
    const names = async (...args: string[]) => (await say('looks', 'list', '-o', 'name', ...args)).stdout
    const owners = (await ask(['list', '-o', 'name', '--store', server.url])).stdout
    assert.equal(await names(), owners)
    assert.equal(await names('report:'), 'report:ada\n')
    assert.equal(await names('*:ada'), 'report:ada\n')
    assert.equal(await names('--failed'), 'broken\n')
    assert.equal(await names('--state', 'paused'), 'report:ada\n')
    assert.equal(await names('-n', '1'), 'backup\n')
    const { version, items } = JSON.parse((await say('looks', 'list', '--json')).stdout)
    assert.equal(version, 1)
    assert.deepEqual(
      items[1].recent.map(({ state }: { state: string }) => state),
      ['failed'],
    )
  })

  test('sees what its rights are, and which command gives it more', async () => {
    const runs = await say('looks', 'runs')
    assert.equal(runs.status, 4)
    assert.match(runs.stderr, /The role "looks" may only read the views of the schema "cronce"/)
    assert.match(runs.stderr, /use cronce list, or read the views with SQL: .*cronce\.fires.*cronce\.runs/)
    assert.doesNotMatch(runs.stderr, /--runtime/)
    for (const command of ['list', 'runs']) {
      const none = await say('nobody', command)
      assert.equal(none.status, 5)
      assert.match(none.stderr, /The role "nobody" may not use the schema/)
      assert.match(none.stderr, /--runtime nobody .*For a role that only reads, write --viewer/)
    }
    const up = await say('nobody', 'migrate', 'up')
    assert.doesNotMatch(up.stderr, /password/)
  })
})
