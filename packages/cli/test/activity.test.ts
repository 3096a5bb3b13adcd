import assert from 'node:assert/strict'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type ActivityRecord, type Cronce, connect } from 'cronce'
import { type Bench, benchOn, fleetOn, scratch, until } from './steer-kit.ts'

describe('activity', () => {
  let folder: string
  let app: Cronce
  let bench: Bench
  before(async () => {
    folder = scratch()
    const store = `sqlite:${join(folder, 'activity.db')}`
    app = fleetOn(store)
    await app.start()
    bench = await benchOn(store)
  })
  after(async () => {
    await bench.client.close()
    await app.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const items = async (...args: string[]): Promise<ActivityRecord[]> => {
    const { stdout, status } = await bench.say('activity', '--json', ...args)
    assert.equal(status, 0)
    return JSON.parse(stdout).items
  }
  const told = async (...args: string[]): Promise<string[]> =>
    (await items(...args)).map(({ action, subject }) => `${action} ${subject.name}`)

  test('every command that changes something is listed with its author, note and origin, the latest first', async () => {
    const done = async (...args: string[]): Promise<void> => {
      const { status, stderr } = await bench.say(...args, '--note', 'why')
      assert.equal(status, 0, `${args.join(' ')}: ${stderr}`)
    }
    assert.match((await bench.say('activity')).stdout + (await bench.say('activity')).stderr, /No activity/)
    await done('schedule', 'put', 'acme', '--job', 'slow', '--cron', '0 3 * * *')
    await done('pause', 'acme')
    await done('resume', 'acme')
    await done('skip-next', 'acme', '--yes')
    await done('run', 'acme')
    await until(async () => (await bench.client.schedules.get('acme')).open[0]?.state === 'running')
    await done('cancel', 'acme', '--yes')
    const ended = await until(
      async () => (await bench.client.fires.list({ schedule: 'acme', outcome: 'cancelled' })).items[0] ?? null,
    )
    await done('retry', 'acme', new Date(ended.dueAt).toISOString(), '--yes')
    await done('backfill', 'acme', '--from', 'now-2d', '--to', 'now', '--yes', '--force')
    await done('remove', 'acme', '--yes', '--force')
    const { id } = (await bench.client.instances.list())[0]!
    await done('drain', id, '--yes')
    await done('drain', id, '--undo', '--yes')
    await done('deployments', 'activate', 'v1', '--app', 'shop', '--yes')
    await done('prune', '--yes')
    const found = await items()
    assert.deepEqual(found.map(({ action }) => action).reverse(), [
      'put',
      'pause',
      'resume',
      'skip',
      'trigger',
      'cancel',
      'retry',
      'backfill',
      'remove',
      'drain',
      'undrain',
      'activate',
      'prune',
    ])
    for (const { author, note, origin } of found) assert.deepEqual([author, note, origin], ['ada@desk', 'why', 'cli'])
    const { stdout } = await bench.say('activity', '--schedule', 'acme', '--from', 'now-1h')
    assert.match(stdout, /TIME +ACTION +SUBJECT +AUTHOR +ORIGIN +NOTE/)
    assert.equal(stdout.trim().split('\n').length, 10)
    assert.deepEqual(await told('--from', 'now+1h'), [])
    assert.equal((await bench.say('activity', '--from', 'whenever')).status, 2)
    assert.deepEqual(await told('--schedule', 'acme', '--from', 'now+1h'), [], 'acme is removed, and on record')
    const { status, stderr } = await bench.say('activity', '--schedule', 'goood')
    assert.equal(status, 3)
    assert.match(stderr, /There is no schedule "goood"\.\nhint: Did you mean good\?/)
  })

  test('adopting a copy is on the record of the copy', async () => {
    const store = `sqlite:${join(folder, 'copy.db')}`
    const original = await connect({ store: `sqlite:${join(folder, 'original.db')}`, logger: false })
    await original.schedules.create('acme', { job: 'good' })
    await original.close()
    copyFileSync(join(folder, 'original.db'), join(folder, 'copy.db'))
    const copy = (...args: string[]) => bench.say(...args, '--store', store)
    assert.equal((await copy('adopt', '--yes', '--note', 'moved')).status, 0)
    const { items: found } = JSON.parse((await copy('activity', '--json')).stdout)
    assert.deepEqual(
      found.map(({ action, note, changed }: ActivityRecord) => [action, note, changed]),
      [['adopt', 'moved', { epoch: 2 }]],
    )
  })

  test('duplicates lists what app.detect has found', async () => {
    assert.match((await bench.say('duplicates')).stderr, /No duplicates/)
    for (let times = 0; times < 3; times++) await app.detect('legacy', { window: '1h' }, () => {})
    const { stdout } = await bench.say('duplicates', 'legacy', '--from', 'now-1h', '--json')
    const { items: found } = JSON.parse(stdout)
    assert.equal(found.length, 2)
    assert.deepEqual([found[0].name, found[0].pid, found[0].refused], ['legacy', process.pid, false])
    assert.equal((await bench.say('duplicates', 'legacy', '--to', 'now-1h')).status, 0)
    const slip = await bench.say('duplicates', 'legcay')
    assert.equal(slip.status, 3)
    assert.match(slip.stderr, /No execution of "legcay" is on record\.\nhint: Did you mean legacy\?/)
    assert.match((await bench.say('duplicates')).stdout, /TIME +NAME +HOST +PID +FIRST +REFUSED/)
    assert.doesNotMatch((await bench.say('list')).stdout, /cronce:detect/)
  })
})
