import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Member, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000
const DUE = NEW_YEAR + 10 * MINUTE

/** Five jobs that are due together and end 4 ms after each other, the first one after 4 ms. */
const five: Declare = (app, { clock }) => {
  for (const number of [1, 2, 3, 4, 5]) app.job(`j${number}`, { cron: '10 0 * * *' }, () => clock.sleep(4 * number))
}

function appliesOf({ link }: Member): number {
  return link.calls.get('apply') ?? 0
}

test('runs that end one after the other share a settlement if settlements are gathered', async () => {
  const counts: number[] = []
  for (const settleDelay of [0, 25]) {
    const fleet = await createFleet()
    const member = await fleet.add(five, { settleDelay })
    await fleet.advance(9 * MINUTE)
    const before = appliesOf(member)
    await fleet.advance(2 * MINUTE)
    counts.push(appliesOf(member) - before)
    assert.deepEqual(
      fleet.events('fire.ended').map(({ outcome }) => outcome),
      Array.from({ length: 5 }, () => 'succeeded'),
    )
    fleet.end()
  }
  assert.deepEqual(counts, [5, 1])
})

test('the end of a lock is not gathered, because a peer may wait for it', async () => {
  const fleet = await createFleet()
  const [first, second] = await fleet.addMany(2, (app) => app.job('bill', {}, () => {}), { settleDelay: 1_000 })
  await fleet.advance(MINUTE)
  const before = fleet.now()
  await first!.app.lock('door', async () => {})
  await second!.app.lock('door', async () => {})
  assert.equal(fleet.now(), before)
  fleet.end()
})

test('a process that dies while it gathers leaves its runs to be repeated', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app) => app.job('bill', { cron: '10 0 * * *' }, () => {}), { settleDelay: 1_000 })
  await fleet.advance(10 * MINUTE + 500)
  assert.equal(fleet.handled.length, 1)
  fleet.handled[0]!.member.crash()
  await fleet.advance(5 * MINUTE)
  assert.deepEqual(
    fleet.handled.map(({ dueAt, attempt }) => [dueAt - DUE, attempt]),
    [
      [0, 1],
      [0, 2],
    ],
  )
  fleet.end()
})

test('stop writes what was gathered', async () => {
  const fleet = await createFleet()
  const member = await fleet.add((app) => app.job('bill', { cron: '10 0 * * *' }, () => {}), { settleDelay: 1_000 })
  await fleet.advance(10 * MINUTE + 100)
  assert.equal(fleet.handled.length, 1)
  const stopped = member.app.stop()
  await fleet.advance('2s')
  await stopped
  const { items } = await fleet.operator.fires.list({ schedule: 'bill' })
  assert.deepEqual(
    items.map(({ state }) => state),
    ['succeeded'],
  )
  fleet.end()
})

for (const overlap of ['skip', 'replace', 'queue'] as const) {
  test(`overlap ${overlap} finds no run in its way that is over and only gathered`, async () => {
    const fleet = await createFleet({ latency: () => ({ requestMs: 2, answerMs: 2 }) })
    const tick: Declare = (app, { clock }) => app.job('tick', { every: '1s', overlap }, () => clock.sleep(100))
    await fleet.add(tick, { settleDelay: 1_000 })
    await fleet.advance(MINUTE)
    const ends = fleet.events('fire.ended').map(({ outcome }) => outcome)
    assert.deepEqual(new Set(ends), new Set(['succeeded']))
    assert.ok(ends.length >= 58, `${ends.length}`)
    fleet.end()
  })
}
