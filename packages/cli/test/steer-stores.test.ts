import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Connection, type Cronce, connect } from 'cronce'
import { migrator } from 'cronce/postgres'
import { startPostgres, startRedis } from '../../../scripts/servers/index.ts'
import { ask, cronce as program, type Result } from './cronce.ts'
import { fleetOn, scratch, until } from './steer-kit.ts'

const MINUTE = 60_000

/** Some hundred milliseconds a process: all commands are one on SQLite, on the other stores those that begin the scenario. */
async function scenario(store: string, isAllReal: boolean): Promise<void> {
  await using app = fleetOn(store)
  await app.start()
  const client = await connect({ store, logger: false })
  try {
    await steer(store, app, client, isAllReal)
  } finally {
    await client.close()
  }
}

async function steer(store: string, app: Cronce, client: Connection, isAllReal: boolean): Promise<void> {
  const env = { CRONCE_STORE: store, CRONCE_AUTHOR: 'ada@desk' }
  const real = (...args: string[]): Promise<Result> => program(args, env)
  const say = isAllReal ? real : (...args: string[]) => ask(args, env, { now: Date.now() })
  await client.schedules.create('report', { job: 'good', cron: '0 3 * * *' })
  await client.schedules.create('broken', { job: 'bad' })
  await client.schedules.create('endless', { job: 'slow' })
  await client.schedules.create('minutely', { job: 'good', every: '1m' })

  const [good, bad, endless] = await Promise.all([
    real('run', 'report', '--wait', '--note', 'by hand'),
    real('run', 'broken', '--wait'),
    real('run', 'endless'),
  ])
  assert.deepEqual([good.status, good.stdout], [0, '{"rows":3}\n'])
  assert.deepEqual([bad.status, bad.stdout, endless.status], [20, '', 0])
  assert.match(bad.stderr, /failed \(error\).*: no such file\n$/)

  await until(async () => (await client.schedules.get('endless')).open.some(({ state }) => state === 'running'))
  const [fire] = (await client.fires.list({ schedule: 'broken' })).items
  const minute = Math.floor(Date.now() / MINUTE) * MINUTE
  const [from, to] = [minute - 2 * MINUTE, minute - MINUTE].map((at) => new Date(at).toISOString()) as [string, string]
  const [paused, plan, cancelled, retried] = await Promise.all([
    real('pause', 'report', '--until', '+1d', '--note', 'wrong prices'),
    say('backfill', 'minutely', '--from', from, '--to', to, '--force', '--dry-run', '--json'),
    say('cancel', 'endless', '--note', 'enough'),
    say('retry', 'broken', new Date(fire!.dueAt).toISOString()),
  ])
  assert.match(paused.stdout, /^report is paused until .* UTC: 1 instant falls into it, none of them is run\.\n$/)
  assert.deepEqual(JSON.parse(plan.stdout).preview, { instants: 2, toRun: 2, alreadyRun: 0, more: false })
  assert.match(cancelled.stdout, /^The fire of endless due .* (was asked to end|is cancelled)/)
  assert.match(retried.stdout, /^Round 2 of the fire of broken due .* is open/)

  const { nextAt } = await client.schedules.get('report')
  const [described, filled, drained] = await Promise.all([
    say('describe', 'report'),
    say('backfill', 'minutely', '--from', from, '--to', to, '--force'),
    say('drain', app.instance!.slice(0, 10), '--dry-run'),
  ])
  assert.match(described.stdout, /wrong prices/)
  assert.match(described.stdout, /ada@desk/)
  assert.equal(filled.status, 0)
  assert.match(drained.stdout, /takes nothing new/)
  await until(async () => {
    const { items } = await client.fires.list({
      schedule: 'minutely',
      outcome: 'succeeded',
      from,
      to: Date.parse(to) + 1,
    })
    return items.length === 2
  })
  await until(async () => (await client.schedules.get('endless')).open.length === 0)
  assert.equal((await client.fires.list({ schedule: 'endless' })).items[0]!.reason, 'cancelled-by-operator')
  await until(async () => (await client.fires.get(fire!)).state === 'failed')
  assert.equal((await client.fires.get(fire!)).round, 2)

  const [resumed, pruned] = await Promise.all([say('resume', 'report'), say('prune', '--yes', '--json')])
  assert.match(resumed.stdout, /^report is resumed\. Next: /)
  assert.equal(JSON.parse(pruned.stdout).deleted, 0)
  const [skipped, none] = await Promise.all([
    say('skip-next', 'report', '--due', new Date(nextAt!).toISOString()),
    say('pause', 'reprot', '--json'),
  ])
  assert.equal(skipped.status, 0)
  assert.ok((await client.schedules.get('report')).nextAt! > nextAt!)
  assert.deepEqual([none.status, none.stdout, JSON.parse(none.stderr).error.code], [3, '', 'SCHEDULE_NOT_FOUND'])
}

describe('the commands that change something, on every store', { concurrency: 3 }, () => {
  test('SQLite', async (context) => {
    const folder = scratch()
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    await scenario(`sqlite:${join(folder, 'cronce.db')}`, true)
  })

  test('PostgreSQL', async () => {
    await using server = await startPostgres()
    const migrating = migrator(server.url)
    await migrating.up()
    await migrating.close()
    await scenario(server.url, false)
  })

  const { CRONCE_LONG } = process.env
  // What is asked of the store is the same; that the commands speak to a Redis is seen in see.test.ts each time.
  test('Redis', { skip: CRONCE_LONG === '1' ? false : 'takes long: set CRONCE_LONG=1' }, async () => {
    await using server = await startRedis()
    await scenario(server.url, false)
  })
})
