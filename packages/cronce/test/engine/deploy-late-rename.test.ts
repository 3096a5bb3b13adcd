import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PolicyOptions } from '../../src/client/schedule-options.ts'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

// A release renames a job without `was`; the next one adds it. Meanwhile the app has both names.

const MINUTE = 60_000

interface Job extends PolicyOptions {
  readonly cron?: string
  readonly was?: string
  readonly limit?: number
}

const job =
  (name: string, { cron = '* * * * *', ...options }: Job = {}): Declare =>
  (app) =>
    void app.job(name, { cron, ...options }, () => {})

const minuteOf = (dueAt: number): number => (dueAt - NEW_YEAR) / MINUTE

/** In minutes, what was run of the job, by name. */
function ran(fleet: Fleet, name: string): number[] {
  return fleet.handled.filter(({ schedule }) => schedule === name).map(({ dueAt }) => minuteOf(dueAt))
}

async function replace(fleet: Fleet, old: Member, declare: Declare, deployment: string | undefined): Promise<Member> {
  await fleet.world.until(old.app.stop())
  return fleet.add(declare, { deployment })
}

/** The first release stops after minute 2, the second one comes at `forgotAt` and has no `was`, the third one at minute `lateAt`. */
async function renameLate(
  options: Job,
  { forgotAt, lateAt, id, cron }: { forgotAt: number; lateAt: number; id: boolean; cron?: string },
): Promise<{ readonly fleet: Fleet; readonly last: Member }> {
  const fleet = await createFleet()
  const idOf = (name: string): string | undefined => (id ? name : undefined)
  const first = await fleet.add(job('bill', options), { deployment: idOf('v1') })
  await fleet.advance('150s')
  await fleet.world.until(first.app.stop())
  await fleet.advance(forgotAt * MINUTE - 150_000)
  const renamed = cron === undefined ? options : { ...options, cron }
  const forgot = await fleet.add(job('invoice', renamed), { deployment: idOf('v2') })
  await fleet.advance((lateAt - forgotAt) * MINUTE)
  const last = await replace(fleet, forgot, job('invoice', { ...renamed, was: 'bill' }), idOf('v3'))
  await fleet.advance('3m')
  return { fleet, last }
}

test('what the new name has run does not run under the old name, when was comes one release late', async () => {
  for (const id of [false, true]) {
    for (const misfire of ['latest', 'all', 'skip'] as const) {
      // With ids, a minute later the old name would be retired as one that left the code.
      const { fleet } = await renameLate({ misfire }, { forgotAt: 2.75, lateAt: 3.5, id })
      assert.equal((await fleet.operator.schedules.get('bill')).state, 'retired')
      assert.deepEqual(ran(fleet, 'bill'), [0, 1, 2], `${id} ${misfire}`)
      assert.deepEqual(ran(fleet, 'invoice'), [3, 4, 5, 6], `${id} ${misfire}`)
      fleet.end()
    }
  }
})

test('what came due before the new name was there is caught up under the old name', async () => {
  const daily = { cron: '4 0 * * *' }
  const { fleet } = await renameLate(daily, { forgotAt: 6, lateAt: 8, id: false })
  assert.deepEqual(ran(fleet, 'bill'), [4])
  assert.deepEqual(ran(fleet, 'invoice'), [])
  fleet.end()
  const all = await renameLate({ misfire: 'all' }, { forgotAt: 5.5, lateAt: 8.5, id: false })
  assert.deepEqual(ran(all.fleet, 'bill'), [0, 1, 2, 3, 4, 5])
  assert.deepEqual(ran(all.fleet, 'invoice'), [6, 7, 8, 9, 10, 11])
  all.fleet.end()
})

test('what only the old name had due since the new one is there is on record as missed', async () => {
  const { fleet } = await renameLate({}, { forgotAt: 3.5, lateAt: 8.5, id: false, cron: '*/3 * * * *' })
  assert.deepEqual(ran(fleet, 'bill'), [0, 1, 2, 3])
  assert.deepEqual(ran(fleet, 'invoice'), [6, 9])
  const { items } = await fleet.operator.fires.list({ schedule: 'bill', outcome: 'missed' })
  assert.deepEqual(items.map(({ dueAt, reason }) => `${minuteOf(dueAt)} ${reason}`).toSorted(), [
    '4 while-retired',
    '5 while-retired',
    '7 while-retired',
    '8 while-retired',
  ])
  fleet.end()
})

test('a rollback after a late rename goes on where the new name stopped', async () => {
  const { fleet, last } = await renameLate({}, { forgotAt: 2.75, lateAt: 3.5, id: false })
  await replace(fleet, last, job('bill'), undefined)
  await fleet.advance('5m')
  assert.deepEqual(ran(fleet, 'bill'), [0, 1, 2, 7, 8, 9, 10, 11])
  assert.deepEqual(ran(fleet, 'invoice'), [3, 4, 5, 6])
  fleet.end()
})

test('a fire that waits in a pause under the old name, and that the new name has run, does not run again', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(job('bill'), { deployment: undefined })
  await fleet.advance('90s')
  const forgot = await replace(fleet, first, job('invoice'), undefined)
  await fleet.advance('35s')
  // Minute 2 is planned by the pause, since no process has the job.
  await fleet.operator.schedules.pause('bill')
  await replace(fleet, forgot, job('invoice', { was: 'bill' }), undefined)
  await fleet.advance('2m')
  await fleet.operator.schedules.resume('bill')
  await fleet.advance('2m')
  assert.deepEqual(ran(fleet, 'bill'), [0, 1])
  assert.deepEqual(ran(fleet, 'invoice'), [2, 3, 4, 5, 6])
  const { state, reason } = await fleet.operator.fires.get({ schedule: 'bill', dueAt: NEW_YEAR + 2 * MINUTE })
  assert.deepEqual([state, reason], ['cancelled', 'retired'])
  end(fleet)
})

/** Minute 2 comes due under both names, and waits under those in `waiting` when `was` comes late. */
async function handBack(...waiting: ('bill' | 'invoice')[]): Promise<Fleet> {
  const fleet = await createFleet()
  const first = await fleet.add(job('bill'), { deployment: undefined })
  await fleet.advance('90s')
  const forgot = await fleet.add(job('invoice'), { deployment: undefined })
  const members = { bill: first, invoice: forgot }
  // Handed back, since its process stops before the handler is called.
  for (const member of waiting.map((name) => members[name])) {
    member.at('run:starting', () => member.clock.sleep(500))
  }
  await fleet.advance('30100ms')
  await fleet.world.until(Promise.all([first.app.stop(), forgot.app.stop()]))
  const handled = fleet.handled.filter(({ dueAt }) => minuteOf(dueAt) === 2)
  assert.equal(handled.length, 2 - waiting.length)
  await fleet.add(job('invoice', { was: 'bill' }), { deployment: undefined })
  await fleet.advance('3m')
  return fleet
}

test('a fire that waits under the old name, and that the new name has run, does not run again', async () => {
  const fleet = await handBack('bill')
  assert.deepEqual(ran(fleet, 'bill'), [0, 1])
  assert.deepEqual(ran(fleet, 'invoice'), [2, 3, 4, 5])
  const { state, reason } = await fleet.operator.fires.get({ schedule: 'bill', dueAt: NEW_YEAR + 2 * MINUTE })
  assert.deepEqual([state, reason], ['cancelled', 'retired'])
})

test('a fire that waits under the new name, and that the old name has run, does not run again when was comes late', async () => {
  const fleet = await handBack('invoice')
  assert.deepEqual(ran(fleet, 'bill'), [0, 1, 2])
  assert.deepEqual(ran(fleet, 'invoice'), [3, 4, 5])
  const { state, reason } = await fleet.operator.fires.get({ schedule: 'invoice', dueAt: NEW_YEAR + 2 * MINUTE })
  assert.deepEqual([state, reason], ['cancelled', 'retired'])
  end(fleet)
})

test('a fire that waits under both names when was comes late runs under the new one', async () => {
  const fleet = await handBack('bill', 'invoice')
  assert.deepEqual(ran(fleet, 'bill'), [0, 1])
  assert.deepEqual(ran(fleet, 'invoice'), [2, 3, 4, 5])
  const { state, reason } = await fleet.operator.fires.get({ schedule: 'bill', dueAt: NEW_YEAR + 2 * MINUTE })
  assert.deepEqual([state, reason], ['cancelled', 'retired'])
  end(fleet)
})

/** In minutes: when a release starts. It stops a quarter of a minute before the next one. */
interface Release {
  readonly from: number
  readonly declare: Declare
  readonly deployment?: string
}

/** One release after the other, the last one up to minute `end`. */
async function release(releases: readonly Release[], end: number): Promise<Fleet> {
  const fleet = await createFleet()
  const upTo = (minute: number): Promise<void> => fleet.advance(NEW_YEAR + minute * MINUTE - fleet.now())
  let last: Member | null = null
  for (const { from, declare, deployment } of releases) {
    if (last !== null) {
      await upTo(from - 0.25)
      await fleet.world.until(last.app.stop())
      await upTo(from)
    }
    last = await fleet.add(declare, { deployment })
  }
  await upTo(end)
  return fleet
}

/** `bill`, then `invoice` without `was`, then back to `bill`, then `invoice` with `was`, which comes at minute `lateAt`. */
const rolledBack = (options: Job, lateAt: number, renamed: Job = options): readonly Release[] => [
  { from: 0, declare: job('bill', options) },
  { from: 2.75, declare: job('invoice', renamed) },
  { from: 5.75, declare: job('bill', options) },
  { from: lateAt, declare: job('invoice', { ...renamed, was: 'bill' }) },
]

/** By minute, with the reason, what a name has missed. */
async function missed(fleet: Fleet, schedule: string): Promise<string[]> {
  const { items } = await fleet.operator.fires.list({ schedule, outcome: 'missed', order: 'earliest' })
  return items.flatMap(({ dueAt, range, reason }) => {
    const count = range === null ? 1 : (range.untilAt - dueAt) / MINUTE + 1
    return Array.from({ length: count }, (_, index) => `${minuteOf(dueAt) + index} ${reason}`)
  })
}

test('what the old name ran after a rollback does not run again when was comes late, and what no name ran does', async () => {
  for (const misfire of ['latest', 'all'] as const) {
    const fleet = await release(rolledBack({ misfire }, 8.75), 11.5)
    assert.deepEqual(ran(fleet, 'bill').slice(-3), [6, 7, 8], misfire)
    assert.deepEqual(ran(fleet, 'invoice'), [3, 4, 5, 9, 10, 11], misfire)
    assert.deepEqual(await missed(fleet, 'invoice'), [], misfire)
    end(fleet)
  }
  const gap = await release(
    [
      ...rolledBack({ misfire: 'all' }, 20).slice(0, 3),
      { from: 8.75, declare: job('ping') },
      ...rolledBack({ misfire: 'all' }, 10.75).slice(3),
    ],
    12.5,
  )
  assert.deepEqual(ran(gap, 'bill').slice(-3), [6, 7, 8])
  assert.deepEqual(ran(gap, 'invoice'), [3, 4, 5, 9, 10, 11, 12])
  end(gap)
})

test('with ids, what the old name ran after a short rollback does not run again when was comes late', async () => {
  const [first, second, back, late] = rolledBack({ misfire: 'all' }, 4.75)
  const fleet = await release(
    [
      { ...first!, deployment: 'v1' },
      { ...second!, deployment: 'v2' },
      { ...back!, from: 3.75, deployment: 'v1' },
      { ...late!, deployment: 'v3' },
    ],
    7.5,
  )
  assert.deepEqual(ran(fleet, 'bill').slice(-1), [4])
  assert.deepEqual(ran(fleet, 'invoice'), [3, 5, 6, 7])
  end(fleet)
})

test('with another timing, what only the new name had due while the old one ran is on record as missed', async () => {
  const fleet = await release(rolledBack({ cron: '*/2 * * * *', misfire: 'all' }, 8.75, { misfire: 'all' }), 10.5)
  assert.deepEqual(ran(fleet, 'bill').slice(-2), [6, 8])
  assert.deepEqual(ran(fleet, 'invoice'), [3, 4, 5, 9, 10])
  assert.deepEqual(await missed(fleet, 'invoice'), ['7 while-retired'])
  end(fleet)
})

test('a fire that waits under the old name, and that the new name has not planned, still runs when was comes late', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(job('bill'), { deployment: undefined })
  await fleet.advance('90s')
  await fleet.world.until(first.app.stop())
  const forgot = await fleet.add(job('invoice'), { deployment: undefined })
  const back = await replace(fleet, forgot, job('bill'), undefined)
  // The last fire of the old name is handed back, since its process stops before the handler is called.
  back.at('run:starting', () => back.clock.sleep(500))
  await fleet.advance('30100ms')
  await replace(fleet, back, job('invoice', { was: 'bill' }), undefined)
  await fleet.advance('2m')
  assert.deepEqual(ran(fleet, 'bill'), [0, 1, 2])
  assert.deepEqual(ran(fleet, 'invoice'), [3, 4])
  fleet.end()
})

test('a due time is on record though the new name has used up its limit, or had another timing, when was comes late', async () => {
  const limited = await release(
    [
      { from: 0, declare: job('bill') },
      { from: 2.75, declare: job('invoice', { limit: 2 }) },
      { from: 8.75, declare: job('invoice', { limit: 2, was: 'bill' }) },
    ],
    10.5,
  )
  assert.deepEqual(ran(limited, 'invoice'), [3, 4])
  assert.deepEqual(
    await missed(limited, 'bill'),
    [3, 4, 5, 6, 7, 8].map((minute) => `${minute} while-retired`),
  )
  end(limited)
  const moved = await release(
    [
      { from: 0, declare: job('bill') },
      { from: 2.75, declare: job('invoice', { cron: '*/3 * * * *' }) },
      { from: 6.75, declare: job('invoice') },
      { from: 8.75, declare: job('invoice', { was: 'bill' }) },
    ],
    10.5,
  )
  assert.deepEqual(ran(moved, 'invoice'), [3, 6, 7, 8, 9, 10])
  assert.deepEqual(
    await missed(moved, 'bill'),
    [3, 4, 5, 6, 7, 8].map((minute) => `${minute} while-retired`),
  )
  end(moved)
})

/** Without a check of the promises: the two names are two jobs, and the check takes them for one. */
function end(fleet: Fleet): void {
  for (const member of fleet.members) member.crash()
}

/** The reports of this member that its rename is ignored. */
function ignored(fleet: Fleet, member: Member): string[] {
  return fleet.events('schedule.refused', member).map(({ code, schedule, message }) => {
    assert.match(message, /leave out was/)
    return `${code} ${schedule}`
  })
}

test('a release that adds was after the old name was retired reports that it is ignored, once', async () => {
  const { fleet, last } = await renameLate({}, { forgotAt: 2.75, lateAt: 6.5, id: true })
  assert.equal((await fleet.operator.schedules.get('bill')).state, 'retired')
  assert.deepEqual(ignored(fleet, last), ['RENAME_IGNORED invoice'])
  // It declares again when the record of the app changes.
  const next = await replace(fleet, last, job('ping'), 'v4')
  const again = await replace(fleet, next, job('invoice', { was: 'bill' }), 'v3')
  await fleet.advance('90m')
  assert.deepEqual(ignored(fleet, again), ['RENAME_IGNORED invoice'])
  assert.deepEqual(ran(fleet, 'bill'), [0, 1, 2])
  end(fleet)
})

test('was for a name of another app is ignored, and reported, if this app has the new name already', async () => {
  const fleet = await createFleet()
  await fleet.add(job('bill'), { app: 'shop', deployment: 's1' })
  const old = await fleet.add(job('invoice'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('90s')
  const next = job('invoice', { was: 'bill' })
  await fleet.world.until(old.app.stop())
  const member = await fleet.add(next, { app: 'crm', deployment: 'c2' })
  await fleet.advance('3m')
  assert.deepEqual(ignored(fleet, member), ['RENAME_IGNORED invoice'])
  assert.deepEqual(ran(fleet, 'bill'), [0, 1, 2, 3, 4])
  end(fleet)
})

test('was that has done its work is not reported, however often the release starts', async () => {
  for (const isLate of [false, true]) {
    const fleet = await createFleet()
    let last = await fleet.add(job('bill'), { deployment: 'v1' })
    await fleet.advance('90s')
    if (isLate) last = await replace(fleet, last, job('invoice'), 'v2')
    for (const id of ['v3', 'v3', 'v4']) {
      last = await replace(fleet, last, job('invoice', { was: 'bill' }), id)
      await fleet.advance('3m')
    }
    last = await replace(fleet, last, job('receipt', { was: 'invoice' }), 'v5')
    await fleet.advance('3m')
    assert.deepEqual(fleet.events('schedule.refused'), [], `${isLate}`)
    fleet.end()
  }
})
