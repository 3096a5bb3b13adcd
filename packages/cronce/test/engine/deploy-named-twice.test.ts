import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

// Two jobs with `was` of the same old name: one of them continues it, the other one starts from now.

const MINUTE = 60_000

interface Said {
  readonly was?: string
  readonly misfire?: 'all' | 'latest'
}

const job =
  (name: string, { was, misfire = 'all' }: Said = {}): Declare =>
  (app) =>
    void app.job(name, { cron: '* * * * *', misfire, ...(was === undefined ? {} : { was }) }, () => {})

const all =
  (...declared: Declare[]): Declare =>
  (app, member) => {
    for (const declare of declared) declare(app, member)
  }

const BILL = job('bill')
const RECEIPT = job('receipt', { was: 'bill' })
const INVOICE = job('invoice', { was: 'bill' })

/** Stops the release before, if there is one, and starts the next one 20 s later. */
async function replace(
  fleet: Fleet,
  before: Member | null,
  declare: Declare,
  deployment: string | undefined,
): Promise<Member> {
  if (before !== null) await fleet.world.until(before.app.stop())
  await fleet.advance('20s')
  return await fleet.add(declare, { deployment })
}

/** The minutes that ran under these names, sorted. */
function ran(fleet: Fleet, ...names: string[]): number[] {
  const own = fleet.handled.filter(({ schedule }) => names.includes(schedule))
  return own.map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE).sort((a, b) => a - b)
}

/** The current minute. */
function minute(fleet: Fleet): number {
  return Math.floor((fleet.now() - NEW_YEAR) / MINUTE)
}

/** Every minute from `first` to now ran once under one of these names. */
function assertEach(fleet: Fleet, first: number, names: readonly string[], message = ''): void {
  const expected = Array.from({ length: minute(fleet) - first + 1 }, (_, index) => first + index)
  assert.deepEqual(ran(fleet, ...names), expected, `${names} ${message}`)
}

/** What was reported about ignored renames, by job. */
function ignored(fleet: Fleet, of?: Member): string[] {
  const events = fleet.events('schedule.refused', of).filter(({ code }) => code === 'RENAME_IGNORED')
  return events.map(({ schedule, message }) => `${schedule}: ${message}`)
}

const told = (name: string, by: string, was = 'bill'): string =>
  `${name}: The rename of ${was} to ${name} is ignored, and both run: ${by} continues ${was}. ` +
  `If ${name} is another job, leave out was. If it is not, leave out ${by}.`

const IDS = [
  { given: 'with ids', id: (name: string): string | undefined => name },
  { given: 'without ids', id: (): string | undefined => undefined },
]

for (const { given, id } of IDS) {
  for (const misfire of ['all', 'latest'] as const) {
    for (const again of [undefined, 'bill']) {
      const repeated = again === undefined ? '' : ', both with was'
      test(`a second job that was bill begins from now, ${given}, misfire ${misfire}${repeated}`, async () => {
        const receipt = job('receipt', { misfire, ...(again === undefined ? {} : { was: again }) })
        const invoice = job('invoice', { misfire, was: 'bill' })
        for (const third of [all(receipt, invoice), all(invoice, receipt)]) {
          const fleet = await createFleet()
          const first = await replace(fleet, null, job('bill', { misfire }), id('v1'))
          await fleet.advance('150s')
          const second = await replace(fleet, first, job('receipt', { misfire, was: 'bill' }), id('v2'))
          await fleet.advance('4m')
          const last = await replace(fleet, second, third, id('v3'))
          const since = minute(fleet) + 1
          await fleet.advance('30m')
          assertEach(fleet, 1, ['bill', 'receipt'])
          assertEach(fleet, since, ['invoice'])
          assert.deepEqual(ignored(fleet, last), [told('invoice', 'receipt')])
          fleet.end()
        }
      })
    }
  }

  test(`of two jobs that were bill, declared by one release, the first one continues it, ${given}`, async () => {
    for (const [one, other] of [
      ['receipt', 'invoice'],
      ['invoice', 'receipt'],
    ] as const) {
      const fleet = await createFleet()
      const first = await replace(fleet, null, BILL, id('v1'))
      await fleet.advance('150s')
      await fleet.world.until(first.app.stop())
      await fleet.advance('5m')
      await replace(fleet, null, all(job(one, { was: 'bill' }), job(other, { was: 'bill' })), id('v2'))
      const since = minute(fleet) + 1
      await fleet.advance('10m')
      assertEach(fleet, 1, ['bill', one])
      assertEach(fleet, since, [other])
      assert.deepEqual(ignored(fleet), [told(other, one)])
      fleet.end()
    }
  })

  for (const [to, back, names] of [
    ['second', RECEIPT, ['bill', 'receipt']],
    ['first', BILL, ['bill', 'receipt']],
  ] as const) {
    test(`a rollback to the ${to} release continues the job that continued bill, ${given}`, async () => {
      const fleet = await createFleet()
      const first = await replace(fleet, null, BILL, id('v1'))
      await fleet.advance('150s')
      const second = await replace(fleet, first, RECEIPT, id('v2'))
      await fleet.advance('4m')
      const third = await replace(fleet, second, all(RECEIPT, INVOICE), id('v3'))
      const since = minute(fleet) + 1
      await fleet.advance('5m')
      const until = minute(fleet)
      const fourth = await replace(fleet, third, back, id(to === 'first' ? 'v1' : 'v2'))
      await fleet.advance('10m')
      assertEach(fleet, 1, names)
      assert.deepEqual(ran(fleet, 'invoice').at(0), since)
      assert.deepEqual(ran(fleet, 'invoice').at(-1), until)
      await replace(fleet, fourth, all(INVOICE, RECEIPT), id('v4'))
      await fleet.advance('10m')
      assertEach(fleet, 1, names)
      assert.equal(new Set(ran(fleet, 'invoice')).size, ran(fleet, 'invoice').length)
      fleet.end()
    })
  }

  test(`the pause of bill stays with the job that continued it, ${given}`, async () => {
    const fleet = await createFleet()
    const first = await replace(fleet, null, BILL, id('v1'))
    await fleet.advance('150s')
    await fleet.operator.schedules.pause('bill', { missed: 'all' })
    const second = await replace(fleet, first, RECEIPT, id('v2'))
    await fleet.advance('4m')
    await replace(fleet, second, all(INVOICE, RECEIPT), id('v3'))
    const since = minute(fleet) + 1
    await fleet.advance('5m')
    assert.deepEqual(ran(fleet, 'bill', 'receipt'), [1, 2])
    assertEach(fleet, since, ['invoice'])
    await fleet.operator.schedules.resume('receipt')
    await fleet.advance('1m')
    assertEach(fleet, 1, ['bill', 'receipt'])
    fleet.end()
  })

  test(`fires that wait under bill run in the job that continued it, ${given}`, async () => {
    const fleet = await createFleet()
    const seen: string[] = []
    const failing = (name: string, was?: string): Declare => {
      const retry = { attempts: 50, backoff: { base: '1m', factor: 1, jitter: 0 } } as const
      const options = { cron: '0 * * * *', retry, ...(was === undefined ? {} : { was }) } as const
      return (app) =>
        void app.job(name, options, (run) => {
          seen.push(`${run.fire.schedule} by ${name}`)
          throw new Error('not yet')
        })
    }
    const first = await fleet.add(failing('bill'), { deployment: id('v1') })
    await fleet.advance('70s')
    const second = await replace(fleet, first, failing('receipt', 'bill'), id('v2'))
    await fleet.advance('3m')
    await replace(fleet, second, all(failing('invoice', 'bill'), failing('receipt', 'bill')), id('v3'))
    await fleet.advance('5m')
    assert.ok(seen.includes('bill by receipt'))
    assert.ok(!seen.includes('bill by invoice'))
    assert.equal(seen.at(-1), 'bill by receipt')
    fleet.end()
  })

  test(`a release with the second job alone continues bill, to which the first one went back, ${given}`, async () => {
    const fleet = await createFleet()
    const first = await replace(fleet, null, BILL, id('v1'))
    await fleet.advance('150s')
    const idle: Declare = (app) => void app.job('invoice', { cron: '0 0 1 7 *', was: 'bill' }, () => {})
    const second = await replace(fleet, first, all(RECEIPT, idle), id('v2'))
    await fleet.advance('3m')
    await fleet.world.until(second.app.stop())
    await fleet.advance('90s')
    const third = await replace(fleet, null, BILL, id('v1'))
    await fleet.advance('5m')
    const last = await replace(fleet, third, INVOICE, id('v3'))
    await fleet.advance('10m')
    assertEach(fleet, 1, ['bill', 'receipt', 'invoice'])
    assert.equal(ran(fleet, 'invoice').at(-1), minute(fleet))
    assert.deepEqual(ignored(fleet, last), [])
    fleet.end()
  })

  test(`a new job that has the old name is renamed as any other, ${given}`, async () => {
    const fleet = await createFleet()
    const first = await replace(fleet, null, BILL, id('v1'))
    await fleet.advance('150s')
    const second = await replace(fleet, first, RECEIPT, id('v2'))
    await fleet.advance('3m')
    const order = job('order', { was: 'receipt' })
    const third = await replace(fleet, second, all(order, BILL), id('v3'))
    const since = minute(fleet) + 1
    await fleet.advance('3m')
    await fleet.world.until(third.app.stop())
    await fleet.advance('3m')
    const last = await replace(fleet, null, all(order, INVOICE), id('v4'))
    await fleet.advance('10m')
    const ofBill = [...ran(fleet, 'bill').filter((one) => one >= since), ...ran(fleet, 'invoice')]
    assert.deepEqual(
      ofBill,
      Array.from({ length: minute(fleet) - since + 1 }, (_, index) => since + index),
    )
    assert.deepEqual(ignored(fleet, last), [])
    fleet.end()
  })

  test(`a second job that went back through two names repeats nothing when it is declared again, ${given}`, async () => {
    const fleet = await createFleet()
    const ORDER = job('order', { was: 'receipt' })
    let before = await replace(fleet, null, BILL, id('v1'))
    for (const [name, declare] of [
      ['v2', RECEIPT],
      ['v3', ORDER],
      ['v2', RECEIPT],
      ['v1', BILL],
    ] as const) {
      await fleet.advance('150s')
      await fleet.world.until(before.app.stop())
      await fleet.advance('90s')
      before = await replace(fleet, null, declare, id(name))
    }
    await fleet.advance('5m')
    const until = ran(fleet, 'order').at(-1)!
    await replace(fleet, before, all(ORDER, BILL), id('v4'))
    const since = minute(fleet) + 1
    await fleet.advance('10m')
    const own = ran(fleet, 'order').filter((one) => one > until)
    assert.deepEqual(
      own,
      Array.from({ length: minute(fleet) - since + 1 }, (_, index) => since + index),
    )
    fleet.end()
  })

  test(`a job that was a name from which the job went back begins from now, ${given}`, async () => {
    const fleet = await createFleet()
    const first = await replace(fleet, null, BILL, id('v1'))
    await fleet.advance('150s')
    const second = await replace(fleet, first, RECEIPT, id('v2'))
    await fleet.advance('3m')
    await fleet.world.until(second.app.stop())
    await fleet.advance('90s')
    const third = await replace(fleet, null, BILL, id('v1'))
    await fleet.advance('5m')
    const last = await replace(fleet, third, all(job('invoice', { was: 'receipt' }), BILL), id('v3'))
    const since = minute(fleet) + 1
    await fleet.advance('10m')
    assertEach(fleet, 1, ['bill', 'receipt'])
    assertEach(fleet, since, ['invoice'])
    assert.deepEqual(ignored(fleet, last), [told('invoice', 'bill', 'receipt')])
    fleet.end()
  })

  test(`a job that was the first of three names begins from now beside the third one, ${given}`, async () => {
    for (const was of [undefined, 'receipt']) {
      for (const isFirst of [false, true]) {
        const fleet = await createFleet()
        const first = await replace(fleet, null, BILL, id('v1'))
        await fleet.advance('150s')
        const second = await replace(fleet, first, RECEIPT, id('v2'))
        await fleet.advance('3m')
        const order = job('order', was === undefined ? {} : { was })
        const third =
          was === undefined ? await replace(fleet, second, job('order', { was: 'receipt' }), id('v3')) : second
        await fleet.advance('3m')
        await replace(fleet, third, isFirst ? all(INVOICE, order) : all(order, INVOICE), id('v4'))
        const since = minute(fleet) + 1
        await fleet.advance('10m')
        assertEach(fleet, 1, ['bill', 'receipt', 'order'], `${was} ${isFirst}`)
        assertEach(fleet, since, ['invoice'], `${was} ${isFirst}`)
        assert.deepEqual(ignored(fleet), [told('invoice', 'order')])
        fleet.end()
      }
    }
  })

  test(`the one instant that ran under the first job does not run again under the second one, ${given}`, async () => {
    const once = (name: string, was?: string): Declare => {
      const at = new Date(NEW_YEAR + 5 * MINUTE)
      return (app) => void app.job(name, { at, misfire: 'all', ...(was === undefined ? {} : { was }) }, () => {})
    }
    const fleet = await createFleet()
    const first = await replace(fleet, null, once('bill'), id('v1'))
    await fleet.advance('150s')
    const second = await replace(fleet, first, once('receipt', 'bill'), id('v2'))
    await fleet.advance('5m')
    await replace(fleet, second, all(once('invoice', 'bill'), once('receipt', 'bill')), id('v3'))
    await fleet.advance('5m')
    assert.deepEqual(ran(fleet, 'bill', 'receipt', 'invoice'), [5])
    fleet.end()
  })

  test(`a rename that stopped half-way is finished by the job that began it, ${given}`, async () => {
    const fleet = await createFleet()
    const first = await replace(fleet, null, BILL, id('v1'))
    await fleet.advance('150s')
    await fleet.world.until(first.app.stop())
    await fleet.advance('3m')
    const half = fleet.make(RECEIPT, { deployment: id('v2') })
    half.at('declare:sent', () => half.crash())
    half.app.start().catch(() => {})
    await fleet.advance('5s')
    assert.equal((await fleet.operator.schedules.get('bill')).state, 'retired')
    await replace(fleet, null, all(INVOICE, RECEIPT), id('v3'))
    const since = minute(fleet) + 1
    await fleet.advance('10m')
    assertEach(fleet, 1, ['bill', 'receipt'])
    assertEach(fleet, since, ['invoice'])
    fleet.end()
  })
}

for (const names of [
  ['receipt', 'invoice'],
  ['invoice', 'receipt'],
]) {
  const [one, other] = names as [string, string]
  test(`of two processes of one release, the one that starts first continues bill: ${one}`, async () => {
    const fleet = await createFleet()
    const first = await replace(fleet, null, BILL, 'v1')
    await fleet.advance('150s')
    await replace(fleet, first, job(one, { was: 'bill' }), 'v2')
    await fleet.advance('3m')
    const late = await replace(fleet, null, job(other, { was: 'bill' }), 'v2')
    const since = minute(fleet) + 1
    await fleet.advance('10m')
    assertEach(fleet, 1, ['bill', one])
    assertEach(fleet, since, [other])
    assert.deepEqual(ignored(fleet, late), [told(other, one)])
    fleet.end()
  })

  test(`two processes of one release that start together: bill is continued once, also if ${one} is first`, async () => {
    const fleet = await createFleet({ latency: (random) => ({ requestMs: random() * 40, answerMs: random() * 40 }) })
    const first = await replace(fleet, null, BILL, 'v1')
    await fleet.advance('150s')
    await fleet.world.until(first.app.stop())
    await fleet.advance('5m')
    const made = names.map((name) => fleet.make(job(name, { was: 'bill' }), { deployment: 'v2' }))
    for (const { app } of made) app.start().catch(() => {})
    const since = minute(fleet) + 1
    await fleet.advance('10m')
    const heirs = names.filter((name) => ran(fleet, name)[0]! < since)
    assert.equal(heirs.length, 1)
    assertEach(fleet, 1, ['bill', ...heirs])
    assertEach(
      fleet,
      since,
      names.filter((name) => !heirs.includes(name)),
    )
    assert.equal(ignored(fleet).length, 1)
    fleet.end()
  })

  test(`two processes of the third release, ${one} first: what receipt has run is not repeated`, async () => {
    for (const again of [undefined, 'bill']) {
      const receipt = job('receipt', again === undefined ? {} : { was: again })
      const of = (name: string): Declare => (name === 'receipt' ? receipt : INVOICE)
      const fleet = await createFleet()
      const first = await replace(fleet, null, BILL, 'v1')
      await fleet.advance('150s')
      const second = await replace(fleet, first, RECEIPT, 'v2')
      await fleet.advance('4m')
      await replace(fleet, second, of(one), 'v3')
      await fleet.advance('3m')
      await replace(fleet, null, of(other), 'v3')
      const since = minute(fleet) + 1
      await fleet.advance('10m')
      // While the release has one name for the job, that name continues it.
      const before = ran(fleet, 'bill', 'receipt', 'invoice').filter((one) => one < since)
      assert.deepEqual(
        before,
        Array.from({ length: since - 1 }, (_, index) => index + 1),
      )
      for (const name of ['receipt', 'invoice']) {
        const after = ran(fleet, name).filter((one) => one >= since)
        assert.equal(after.length, minute(fleet) - since + 1, name)
      }
      fleet.end()
    }
  })
}

test('two processes without ids, one job each: the newer one has the job, and no instant runs twice', async () => {
  const fleet = await createFleet()
  const first = await replace(fleet, null, BILL, undefined)
  await fleet.advance('150s')
  await replace(fleet, first, RECEIPT, undefined)
  await fleet.advance('3m')
  await replace(fleet, null, INVOICE, undefined)
  await fleet.advance('10m')
  assertEach(fleet, 1, ['bill', 'receipt', 'invoice'])
  fleet.end()
})
