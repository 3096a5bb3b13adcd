import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientBase } from 'pg'
import { promote, startPostgres, startStandby } from '../../../../scripts/servers/index.ts'
import { startProxy } from '../../../../verification/chaos/proxy.ts'
import { type Cronce, cronce } from '../../src/app/cronce.ts'
import { postgres } from '../../src/store/postgres/postgres.ts'
import { collect, until } from './fleet.ts'
import { openPool } from './postgres-fleet.ts'

/** What handlers did, independent of the records of any server. */
interface Call {
  readonly schedule: string
  readonly dueAt: number
  readonly token: bigint
}

test('a promoted standby that lacks acknowledged commits: reported, fires of the gap run again, nothing stale is written', async (context) => {
  const primary = await startPostgres()
  context.after(() => primary.stop())
  const replication = await startProxy({ host: '127.0.0.1', port: primary.port })
  context.after(() => replication.close())
  // Where the applications find the database, whichever server that is: as behind a name that is moved.
  const address = { host: '127.0.0.1', port: primary.port }
  const front = await startProxy(address)
  context.after(() => front.close())
  const at = (port: number): string => Object.assign(new URL(primary.url), { port: String(port) }).href
  const old = openPool(at(primary.port))
  context.after(() => old.end())
  await old.query('create table effects (schedule text not null, due_at bigint not null)')

  const calls: Call[] = []
  const warnings: string[] = []
  const gate = Promise.withResolvers<void>()
  const start = async (): Promise<Cronce<ClientBase>> => {
    const app = cronce<ClientBase>({
      store: postgres(at(front.port), { migrate: 'auto', timeoutMs: 5_000 }),
      logger: { warn: (line) => warnings.push(String(line)), error: () => {} },
      lease: '5s',
      app: 'shop',
      deployment: 'v1',
      signals: false,
    })
    const note = ({ fire, token }: { fire: { schedule: string; dueAt: number }; token: bigint | string }) =>
      calls.push({ schedule: fire.schedule, dueAt: fire.dueAt, token: BigInt(token) })
    // A transaction that is open while the server dies fails its run with STORE_LOST: only a retry pays that fire.
    const policy = {
      guarantee: 'exactly-once',
      overlap: 'queue-all',
      misfire: { late: 'all', limit: 1_000 },
      retry: 10,
    } as const
    app.job('pay', { every: '500ms', ...policy }, async (run) => {
      note(run)
      const { schedule, dueAt } = run.fire
      await run.transaction((tx) => tx.query('insert into effects values ($1, $2)', [schedule, dueAt]))
    })
    app.job('hold', {}, async (run) => {
      note(run)
      await gate.promise
    })
    await app.start()
    context.after(() => app.stop())
    return app
  }
  const [one, two] = [await start(), await start()]
  const refused: string[] = []
  for (const app of [one, two]) app.on('run.fenced', ({ schedule }) => refused.push(schedule))
  const standby = await startStandby({ primary, port: replication.port })
  context.after(() => standby.stop())
  const fresh = openPool(at(standby.port))
  context.after(() => fresh.end())
  const paidOn = async (pool: typeof old): Promise<number[]> => {
    const { rows } = await pool.query(`select due_at from effects where schedule = 'pay' order by due_at`)
    return rows.map(({ due_at }) => Number(due_at))
  }
  await until('the standby follows', async () => (await paidOn(fresh)).length > 1)

  replication.mode('black-hole')
  // From here on, the primary alone knows what is done.
  await one.schedules.create('ghost', { job: 'hold' })
  await one.schedules.trigger('ghost')
  await until('it runs', () => calls.find(({ schedule }) => schedule === 'ghost'))
  const unheard = async (): Promise<number[]> => {
    const known = (await paidOn(fresh)).at(-1)!
    return (await paidOn(old)).filter((dueAt) => dueAt > known)
  }
  // Asked again and again: a busy standby replays for a while what it received before.
  await until('a few are paid that the standby never hears of', async () => (await unheard()).length > 2)
  const lost = await unheard()
  await primary.kill()
  // What is due from now on was claimed on the standby.
  const killedAt = Date.now()
  const highest = calls.reduce((most, { token }) => (token > most ? token : most), 0n)
  await promote(standby)
  address.port = standby.port
  front.cut()

  await until('it goes on', async () => (await paidOn(fresh)).some((dueAt) => dueAt > killedAt + 500))
  const promoted = warnings.filter((line) => line.includes('STORE_PROMOTED'))
  assert.equal(promoted.length, 1, 'one of the two tells')
  assert.match(promoted[0]!, /may run again/)

  const paid = await paidOn(fresh)
  assert.equal(new Set(paid).size, paid.length, 'on the server that is left each has one row')
  const due = Array.from({ length: paid.length }, (_, index) => paid[0]! + index * 500)
  assert.deepEqual(paid, due, 'and none is missing')
  const again = lost.filter(
    (dueAt) => calls.filter((call) => call.schedule === 'pay' && call.dueAt === dueAt).length > 1,
  )
  assert.deepEqual(again, lost, 'what only the lost commits knew was run again')
  const fires = await collect(one.fires.all({ schedule: 'pay' }))
  const firesAt = fires.filter(({ state }) => state === 'succeeded').map(({ dueAt }) => dueAt)
  for (const dueAt of paid) assert.ok(firesAt.includes(dueAt), 'the record says what the table says')
  // What was claimed ahead on the lost server may have started before the loss was noticed.
  const later = calls.filter(({ dueAt }) => dueAt > killedAt + 400)
  for (const { token } of later) assert.ok(token > highest, 'tokens go on above all that were ever given out')
  assert.deepEqual(new Set(later.map(({ token }) => token >> 44n)), new Set([2n]), 'in the next epoch')

  // Claimed on the old server only: this one has no such schedule, and nothing to settle.
  gate.resolve()
  await until('the unknown run is refused', () => refused.includes('ghost'))
  assert.equal(await one.schedules.find('ghost'), null)
})
