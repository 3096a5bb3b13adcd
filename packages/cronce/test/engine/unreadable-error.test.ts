import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet } from './fleet.ts'

/** How proxies of remote objects, revoked proxies, and errors with computed fields look to a catch block. */
const UNREADABLE: Readonly<Record<string, () => unknown>> = {
  'a proxy that throws at every look': () => new Proxy({}, { get: refuse, getPrototypeOf: refuse, has: refuse }),
  'a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  'an error with a wish that throws': () =>
    Object.defineProperty(new Error('no paper'), 'retryAfterMs', { get: refuse, enumerable: true }),
}

for (const [what, make] of Object.entries(UNREADABLE)) {
  test(`a handler that throws ${what} has failed, is retried, and disturbs no other run`, async () => {
    const fleet = await createFleet()
    await fleet.add((app) =>
      app
        .job('remote', { cron: '1 0 * * *', retry: 1 }, () => {
          throw make()
        })
        .job('bill', '1 0 * * *', () => 'billed'),
    )
    await fleet.advance('5m')
    const { items: remote } = await fleet.operator.runs.list({ schedule: 'remote' })
    const { items: bill } = await fleet.operator.runs.list({ schedule: 'bill' })
    assert.deepEqual(
      remote.map(({ state, reason }) => [state, reason]),
      [
        ['failed', 'error'],
        ['failed', 'error'],
      ],
    )
    assert.deepEqual(
      bill.map(({ state, result }) => [state, result]),
      [['succeeded', 'billed']],
    )
    fleet.end()
  })
}

test('a leader whose callbacks throw an unreadable error steps down, and the next one leads', async () => {
  const fleet = await createFleet()
  const [first, second] = await fleet.addMany(2, () => {})
  const unreadable = (): never => {
    throw UNREADABLE['a revoked proxy']!()
  }
  first!.app.elect('cache', { onElected: unreadable, onLost: unreadable })
  await fleet.advance('200ms')
  second!.app.elect('cache')
  await fleet.advance('10s')
  assert.equal(second!.app.isLeader('cache'), true)
  fleet.end()
})

function refuse(): never {
  throw new Error('gotcha')
}
