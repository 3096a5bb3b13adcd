import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Run } from '../../src/run/run.ts'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000

const bill: Declare = (app) => app.job('bill', '* * * * *', () => {})
const invoice: Declare = (app) => app.job('invoice', { cron: '* * * * *', was: 'bill' }, () => {})

/** By minute and name, what was run. */
function ran(fleet: Fleet): string[] {
  return fleet.handled.map(({ schedule, dueAt }) => `${(dueAt - NEW_YEAR) / MINUTE} ${schedule}`)
}

/** Stop one release, then start the other: an instant is due in between. */
async function replace(fleet: Fleet, old: Member, declare: Declare, deployment: string | undefined): Promise<Member> {
  await fleet.world.until(old.app.stop())
  await fleet.advance('30s')
  const next = await fleet.add(declare, { deployment })
  await fleet.advance('1m')
  return next
}

test('an instant that is due while no process runs is planned under the new name', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(bill, { deployment: 'v1' })
  await fleet.advance('50s')
  await replace(fleet, old, invoice, 'v2')
  assert.deepEqual(ran(fleet), ['0 bill', '1 invoice', '2 invoice'])
  fleet.end()
})

test('fires that a pause has held back are decided when the new name is resumed', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(bill, { deployment: 'v1' })
  await fleet.advance('50s')
  await fleet.operator.schedules.pause('bill', { missed: 'all' })
  await replace(fleet, old, invoice, 'v2')
  assert.deepEqual(ran(fleet), ['0 bill'])
  await fleet.operator.schedules.resume('invoice')
  await fleet.advance('10s')
  assert.deepEqual(ran(fleet), ['0 bill', '1 invoice', '2 invoice'])
  fleet.end()
})

test('a rename that is rolled back and made again loses no instant, and none runs under both names', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(bill, { deployment: 'v1' })
  await fleet.advance('3m50s')
  const second = await replace(fleet, first, invoice, 'v2')
  await fleet.advance('3m')
  await fleet.world.until(second.app.stop())
  const third = await fleet.add(bill, { deployment: 'v1' })
  await fleet.advance('4m')
  await replace(fleet, third, invoice, 'v2')
  await fleet.advance('2m')
  const minutes = ran(fleet).map((one) => Number(one.split(' ')[0]))
  assert.deepEqual(
    minutes,
    Array.from({ length: minutes.length }, (_, minute) => minute),
  )
  assert.equal(minutes.at(-1), 15)
  fleet.end()
})

test('a rename that a later release takes back: the older processes do not retire the job again', async () => {
  const again: Declare = (app) => app.job('bill', { cron: '* * * * *', was: 'invoice' }, () => {})
  for (const ids of [
    ['v1', 'v2', 'v3'],
    [undefined, undefined, undefined],
  ]) {
    const fleet = await createFleet()
    const first = await fleet.add(bill, { deployment: ids[0] })
    await fleet.advance('1m50s')
    await replace(fleet, first, invoice, ids[1])
    await fleet.add(again, { deployment: ids[2] })
    await fleet.advance('3m')
    const names = ran(fleet).map((one) => one.split(' ')[1])
    assert.deepEqual(names, ['bill', 'bill', 'invoice', 'invoice', 'bill', 'bill', 'bill'])
    fleet.end()
  }
})

test('without ids, a rename that is rolled back for long and made again runs no instant under both names', async () => {
  const fleet = await createFleet()
  const without = { deployment: undefined }
  const other: Declare = (app) => app.job('other', '* * * * *', () => {})
  const before: Declare = (app, member) => [other, bill].map((declare) => declare(app, member))
  const after: Declare = (app, member) => [other, invoice].map((declare) => declare(app, member))
  const first = await fleet.add(before, without)
  await fleet.advance('3m50s')
  const second = await fleet.add(after, without)
  await fleet.advance('2m')
  await fleet.world.until(second.app.stop())
  await fleet.advance('3m')
  first.crash()
  await fleet.add(after, without)
  await fleet.advance('3m')
  const minutes = fleet.handled.filter(({ schedule }) => schedule !== 'other').map(({ dueAt }) => dueAt)
  assert.equal(new Set(minutes).size, minutes.length)
  fleet.end()
})

test('a release that is not the newest renames nothing', async () => {
  const fleet = await createFleet()
  await fleet.add(bill, { deployment: 'v1' })
  const second = await fleet.add(invoice, { deployment: 'v2' })
  await fleet.advance('2m')
  await fleet.world.until(second.app.stop())
  await fleet.advance('2m')
  await fleet.add((app) => app.job('other', '* * * * *', () => {}), { deployment: 'v3' })
  await fleet.advance('10s')
  await fleet.add(invoice, { deployment: 'v2' })
  await fleet.advance('5m')
  // The process of v1 is warned that it will be retired; it is not retired before its time.
  assert.equal((await fleet.operator.schedules.get('bill')).state, 'active')
  fleet.end()
})

test('without ids, a process from before a rename does not bring the old name back while a later release has the new one', async () => {
  const fleet = await createFleet()
  const without = { deployment: undefined }
  await fleet.add(bill, without)
  await fleet.advance('50s')
  const second = await fleet.add(invoice, without)
  await fleet.advance('1m')
  const later: Declare = (app, member) => [invoice(app, member), app.job('other', '* * * * *', () => {})]
  await fleet.add(later, without)
  await fleet.world.until(second.app.stop())
  await fleet.advance('5m')
  const own = fleet.handled.filter(({ schedule }) => schedule !== 'other')
  assert.deepEqual(
    own.map(({ schedule }) => schedule),
    ['bill', ...Array.from({ length: 6 }, () => 'invoice')],
  )
  assert.deepEqual(fleet.events('schedule.returned'), [])
  fleet.end()
})

test('a rename that is rolled back and made again within the hold-down runs no instant under both names', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(bill, { deployment: 'v1' })
  await fleet.advance('3m50s')
  await fleet.world.until(first.app.stop())
  const second = await fleet.add(invoice, { deployment: 'v2' })
  await fleet.advance('1m30s')
  await fleet.world.until(second.app.stop())
  const third = await fleet.add(bill, { deployment: 'v1' })
  await fleet.advance('50s')
  await fleet.world.until(third.app.stop())
  await fleet.add(invoice, { deployment: 'v2' })
  await fleet.advance('2m')
  assert.deepEqual(ran(fleet), [
    ...['0 bill', '1 bill', '2 bill', '3 bill', '4 invoice', '5 invoice'],
    ...['6 bill', '7 invoice', '8 invoice'],
  ])
  fleet.end()
})

test('a job that skips a name of its history begins from now, and repeats nothing', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(bill, { deployment: 'v1' })
  await fleet.advance('50s')
  const second = await replace(fleet, first, invoice, 'v2')
  await fleet.world.until(second.app.stop())
  await fleet.add((app) => app.job('charge', { cron: '* * * * *', was: 'bill' }, () => {}), { deployment: 'v3' })
  await fleet.advance('1m')
  assert.deepEqual(ran(fleet), ['0 bill', '1 invoice', '2 invoice', '3 charge'])
  fleet.end()
})

test('fires that wait under the old name still run under it, with their attempts and idempotency keys', async () => {
  const fleet = await createFleet()
  const seen: string[] = []
  const job = (name: string, was?: string): Declare => {
    const retry = { attempts: 3, backoff: { base: '30s', jitter: 0 } } as const
    return (app) =>
      app.job(
        name,
        { cron: '* * * * *', overlap: 'queue-all', retry, ...(was === undefined ? {} : { was }) },
        (run) => {
          const minute = (run.fire.dueAt - NEW_YEAR) / MINUTE
          seen.push(`${minute} ${run.fire.schedule} ${run.attempt} by ${name} ${run.idempotencyKey()}`)
          if (minute < 2 && run.attempt < 4) throw new Error('not yet')
        },
      )
  }
  const old = await fleet.add(job('bill'), { deployment: 'v1' })
  await fleet.advance('1m10s')
  // Minute 0 waits for its next attempt, minute 1 for its turn.
  await fleet.world.until(old.app.stop())
  await fleet.add(job('invoice', 'bill'), { deployment: 'v2' })
  await fleet.advance('10m')
  const ends = await fleet.operator.fires.list({ schedule: 'bill', order: 'earliest' })
  assert.deepEqual(
    ends.items.map(({ state, attempt }) => [state, attempt]),
    [
      ['succeeded', 4],
      ['succeeded', 4],
    ],
  )
  const keys = seen.filter((one) => one.startsWith('0 bill')).map((one) => one.split(' ').at(-1))
  assert.equal(new Set(keys).size, 1)
  assert.ok(seen.some((one) => one.startsWith('1 bill 1 by invoice')))
  assert.deepEqual(
    fleet.events('run.ended').filter(({ schedule, dueAt }) => schedule === 'invoice' && dueAt < NEW_YEAR + 2 * MINUTE),
    [],
  )
  fleet.end()
})

test('a rollback of the rename runs what waits under the new name, and nothing ends as retired', async () => {
  const fleet = await createFleet()
  let fails = true
  const retry = { attempts: 100, backoff: { base: '30s', factor: 1, jitter: 0 } } as const
  const handle = (): void => {
    if (fails) throw new Error('not yet')
  }
  const one: Declare = (app) => app.job('bill', { cron: '*/10 * * * *', retry }, handle)
  const two: Declare = (app) => app.job('invoice', { cron: '*/10 * * * *', retry, was: 'bill' }, handle)
  const first = await fleet.add(one, { deployment: 'v1' })
  await fleet.advance('5s')
  const second = await replace(fleet, first, two, 'v2')
  await fleet.advance('10m')
  await replace(fleet, second, one, 'v1')
  fails = false
  await fleet.advance('2m')
  const { items } = await fleet.operator.fires.list({ order: 'earliest' })
  assert.deepEqual(
    items.map(({ schedule, state }) => [schedule, state]),
    [
      ['bill', 'succeeded'],
      ['invoice', 'succeeded'],
    ],
  )
  fleet.end()
})

test('an operator switches between the releases before and after a rename: no instant is lost or run twice', async () => {
  const fleet = await createFleet({ latency: () => ({ requestMs: 150, answerMs: 150 }) })
  const one: Declare = (app) => app.job('bill', { every: '3s' }, () => {})
  const two: Declare = (app) => app.job('invoice', { every: '3s', was: 'bill' }, () => {})
  await fleet.add(one, { deployment: 'v1' })
  await fleet.advance(121_700)
  await fleet.add(two, { deployment: 'v2' })
  await fleet.advance(116_300)
  for (const deployment of ['v1', 'v2', 'v1', 'v2']) {
    await fleet.operator.deployments.activate('shop', deployment)
    await fleet.advance('2m')
  }
  const seconds = fleet.handled.map(({ dueAt }) => (dueAt - NEW_YEAR) / 1_000).sort((one, other) => one - other)
  const [first = 0] = seconds
  assert.deepEqual(
    seconds,
    Array.from({ length: seconds.length }, (_, index) => first + 3 * index),
  )
  fleet.end()
})

test('a refusal about the old name contains its current name', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(bill, { deployment: 'v1' })
  await fleet.advance('50s')
  await replace(fleet, first, invoice, 'v2')
  await assert.rejects(fleet.operator.schedules.trigger('bill'), {
    code: 'SCHEDULE_RETIRED',
    message: 'The schedule bill is retired: its job has been renamed to invoice.',
    hint: 'Use the schedule invoice.',
  })
  fleet.end()
})

test('a new job that has the old name of a renamed one runs its own handler, also beside older processes', async () => {
  for (const ids of [
    ['v1', 'v2', 'v3'],
    [undefined, undefined, undefined],
  ]) {
    const fleet = await createFleet()
    const called: string[] = []
    const note =
      (handler: string) =>
      (run: Run): void =>
        void called.push(`${handler} for ${run.fire.schedule}`)
    const renamed: Declare = (app) => app.job('invoice', { cron: '* * * * *', was: 'bill' }, note('invoice'))
    const first = await fleet.add(bill, { deployment: ids[0] })
    await fleet.advance('1m50s')
    await replace(fleet, first, renamed, ids[1])
    // The older process reads the names again before the newer one declares its jobs.
    const both: Declare = (app, member) => {
      renamed(app, member)
      app.job('bill', '* * * * *', note('bill'))
      member.at('declare:sent', () => fleet.world.after(15_000))
    }
    const third = await fleet.add(both, { deployment: ids[2] })
    await fleet.advance('5m')
    third.crash()
    await fleet.advance('1m')
    assert.deepEqual([...new Set(called)].sort(), ['bill for bill', 'invoice for invoice'])
    fleet.end()
  }
})

test('without ids, a process from before two renames does not bring the first name back', async () => {
  const fleet = await createFleet()
  const without = { deployment: undefined }
  const receipt: Declare = (app) => app.job('receipt', { cron: '* * * * *', was: 'invoice' }, () => {})
  await fleet.add(bill, without)
  await fleet.advance('1m50s')
  const second = await fleet.add(invoice, without)
  await fleet.advance('2m')
  await fleet.add(receipt, without)
  await fleet.advance('2m')
  await fleet.world.until(second.app.stop())
  await fleet.advance('4m')
  const names = ran(fleet).map((one) => one.split(' ')[1])
  assert.deepEqual(names.slice(0, 4), ['bill', 'bill', 'invoice', 'invoice'])
  assert.deepEqual([...new Set(names.slice(4))], ['receipt'])
  assert.equal(names.length, 10)
  fleet.end()
})

test('a rollback over two renames goes on where the last name stopped', async () => {
  const fleet = await createFleet()
  const receipt: Declare = (app) => app.job('receipt', { cron: '* * * * *', was: 'invoice' }, () => {})
  const first = await fleet.add(bill, { deployment: 'v1' })
  await fleet.advance('1m50s')
  const second = await replace(fleet, first, invoice, 'v2')
  await fleet.advance('2m')
  const third = await replace(fleet, second, receipt, 'v3')
  await fleet.advance('2m')
  await replace(fleet, third, bill, 'v1')
  await fleet.advance('2m')
  const minutes = ran(fleet).map((one) => Number(one.split(' ')[0]))
  assert.deepEqual(
    minutes,
    Array.from({ length: minutes.length }, (_, minute) => minute),
  )
  assert.equal(ran(fleet).at(-1), '12 bill')
  fleet.end()
})

test('without ids, an older process does not bring back its name for a job that a newer release has under the old one', async () => {
  const fleet = await createFleet()
  const without = { deployment: undefined }
  const other: Declare = (app) => app.job('other', '* * * * *', () => {})
  const both =
    (...all: Declare[]): Declare =>
    (app, member) =>
      all.map((declare) => declare(app, member))
  const first = await fleet.add(both(bill, other), without)
  await fleet.advance('1m50s')
  const second = await replace(fleet, first, both(invoice, other), undefined)
  await fleet.add(other, without)
  await fleet.world.until(second.app.stop())
  // The new name is retired by absence.
  await fleet.advance('3m')
  const more: Declare = (app) => app.job('more', '* * * * *', () => {})
  await fleet.add(both(bill, other, more), without)
  await fleet.advance('2m')
  await fleet.add(both(invoice, other), without)
  await fleet.advance('3m')
  const own = fleet.handled.filter(({ schedule }) => schedule === 'bill' || schedule === 'invoice')
  assert.equal(new Set(own.map(({ dueAt }) => dueAt)).size, own.length)
  fleet.end()
})

test('a rename of a name whose own rename was rolled back continues where the job goes on now', async () => {
  const fleet = await createFleet()
  const receipt: Declare = (app) => app.job('receipt', { cron: '* * * * *', was: 'invoice' }, () => {})
  const first = await fleet.add(bill, { deployment: 'v1' })
  await fleet.advance('1m50s')
  const second = await replace(fleet, first, invoice, 'v2')
  await fleet.advance('2m')
  await replace(fleet, second, bill, 'v1')
  await fleet.advance('2m')
  await fleet.add(receipt, { deployment: 'v3' })
  await fleet.advance('3m')
  const minutes = ran(fleet).map((one) => Number(one.split(' ')[0]))
  assert.deepEqual(
    minutes,
    Array.from({ length: minutes.length }, (_, minute) => minute),
  )
  assert.deepEqual(
    ran(fleet)
      .slice(-3)
      .map((one) => one.split(' ')[1]),
    ['receipt', 'receipt', 'receipt'],
  )
  fleet.end()
})

test('a pause that was ended after a rollback of the rename is not there again after the next rename', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(bill, { deployment: 'v1' })
  await fleet.advance('50s')
  await fleet.operator.schedules.pause('bill')
  const second = await replace(fleet, first, invoice, 'v2')
  const third = await replace(fleet, second, bill, 'v1')
  await fleet.operator.schedules.resume('bill')
  await replace(fleet, third, invoice, 'v2')
  assert.equal((await fleet.operator.schedules.get('invoice')).state, 'active')
  fleet.end()
})

test('a release that adds was one release late stops the old name, and a rollback continues where the new one stopped', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(bill, { deployment: undefined })
  await fleet.advance('150s')
  await fleet.world.until(first.app.stop())
  const forgot = await fleet.add((app) => app.job('invoice', '* * * * *', () => {}), { deployment: undefined })
  await fleet.advance('100s')
  const late = await fleet.add(invoice, { deployment: undefined })
  await fleet.world.until(forgot.app.stop())
  await fleet.advance('10m')
  assert.equal((await fleet.operator.schedules.get('bill')).state, 'retired')
  await fleet.operator.schedules.pause('invoice')
  await fleet.world.until(late.app.stop())
  const before = ran(fleet).length
  await fleet.add(bill, { deployment: undefined })
  await fleet.advance('4m')
  assert.equal(ran(fleet).length, before, 'the pause went along')
  for (const member of fleet.members) member.crash()
})
