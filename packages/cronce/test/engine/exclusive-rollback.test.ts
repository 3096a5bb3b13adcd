import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Fleet, type Member } from './fleet.ts'

const nothing = (): void => {}

/** On a store that may lose acknowledged writes. */
async function twoOnForgetful(): Promise<{ readonly fleet: Fleet; readonly one: Member; readonly other: Member }> {
  const fleet = await createFleet({ losesWrites: true })
  const [one, other] = await fleet.addMany(2, nothing)
  await fleet.advance('1s')
  return { fleet, one: one!, other: other! }
}

test('a lock that was created in the window that the store lost keeps its holder', async () => {
  const { fleet, one, other } = await twoOnForgetful()
  const forget = fleet.keep()
  const order: string[] = []
  const held = one.app.lock('ledger', async (lock) => {
    await one.clock.sleep(60_000)
    order.push('first')
    return { token: lock.token, wasAborted: lock.signal.aborted }
  })
  await fleet.advance('1s')
  forget()
  await fleet.advance('30s')
  const next = other.app.lock('ledger', { wait: '5m' }, (lock) => {
    order.push('second')
    return lock.token
  })
  await fleet.advance('2m')
  const { token, wasAborted } = await held
  assert.equal(wasAborted, false)
  assert.ok((await next) > token)
  assert.deepEqual(order, ['first', 'second'])
  assert.deepEqual(
    fleet.events('store.rolledBack').flatMap(({ doubtful }) => doubtful),
    [],
  )
  fleet.end()
})

test('a leader whose election was created in the window that the store lost stays the leader', async () => {
  const { fleet, one, other } = await twoOnForgetful()
  const forget = fleet.keep()
  const order: string[] = []
  for (const { app, name } of [one, other]) {
    app.elect('cache', {
      onElected: () => void order.push(`${name} elected`),
      onLost: () => void order.push(`${name} lost`),
    })
    await fleet.advance('1s')
  }
  forget()
  await fleet.advance('2m')
  assert.deepEqual(order, [`${one.name} elected`])
  assert.equal(one.app.isLeader('cache'), true)
  fleet.end()
})

test('a key whose start the store lost is done once, and all callers get its result', async () => {
  const { fleet, one, other } = await twoOnForgetful()
  const forget = fleet.keep()
  let effects = 0
  const done = one.app.once('k', async () => {
    effects++
    await one.clock.sleep(60_000)
    return 'done'
  })
  await fleet.advance('1s')
  forget()
  // Long enough that the lost writes are written again before it ends.
  await fleet.advance('30s')
  const waited = other.app.once('k', () => void effects++)
  await fleet.advance('2m')
  assert.deepEqual([await done, await waited], ['done', 'done'])
  const later = other.app.once('k', () => void effects++)
  await fleet.advance('10s')
  assert.equal(await later, 'done')
  assert.equal(effects, 1)
  fleet.end()
})

test('a key that ends before any instance has noticed that the store lost its start is done', async () => {
  const { fleet, one, other } = await twoOnForgetful()
  const forget = fleet.keep()
  let effects = 0
  const done = one.app.once('k', async () => {
    effects++
    await one.clock.sleep(1_000)
    forget()
    return 'done'
  })
  await fleet.advance('2m')
  assert.equal(await done, 'done')
  const later = other.app.once('k', () => void effects++)
  await fleet.advance('10s')
  assert.equal(await later, 'done')
  assert.equal(effects, 1)
  fleet.end()
})

test('a key whose start the store lost and whose process then died has an unknown outcome', async () => {
  const { fleet, one, other } = await twoOnForgetful()
  const forget = fleet.keep()
  void one.app.once('k', () => one.clock.sleep(600_000)).catch(nothing)
  await fleet.advance('1s')
  forget()
  await fleet.advance('30s')
  one.crash()
  await fleet.advance('1m')
  const unknown = assert.rejects(
    other.app.once('k', () => assert.fail('it may have happened')),
    { code: 'STEP_UNKNOWN' },
  )
  await fleet.advance('10s')
  await unknown
  fleet.end()
})

test('a key whose result the store lost has an unknown outcome: an error, not null', async () => {
  const { fleet, one, other } = await twoOnForgetful()
  const forget = fleet.keep()
  let effects = 0
  const done = one.app.once('k', () => `done ${++effects}`)
  await fleet.advance('1s')
  assert.equal(await done, 'done 1')
  forget()
  await fleet.advance('1m')
  const unknown = assert.rejects(
    other.app.once('k', () => `done ${++effects}`),
    { code: 'STEP_UNKNOWN' },
  )
  await fleet.advance('10s')
  await unknown
  assert.equal(effects, 1)
  const again = other.app.once('k', { rerun: true }, () => `done ${++effects}`)
  await fleet.advance('10s')
  assert.equal(await again, 'done 2')
  const known = one.app.once('k', () => `done ${++effects}`)
  await fleet.advance('10s')
  assert.equal(await known, 'done 2')
  fleet.end()
})

test('a caller that does not wait, or gives up, is answered while lost records cannot be written again', async () => {
  const { fleet, one, other } = await twoOnForgetful()
  const forget = fleet.keep()
  await fleet.advance('1s')
  forget()
  for (const { link } of [one, other]) link.disturb(({ name }) => (name === 'beat' ? null : { kind: 'throws' }))
  await fleet.advance('11s')
  const called = new AbortController()
  const tried = one.app.tryLock('a', () => 'mine')
  const refused = [
    assert.rejects(
      one.app.lock('b', { wait: '1s' }, () => 'mine'),
      { code: 'LOCK_BUSY' },
    ),
    assert.rejects(
      one.app.lock('c', { wait: '1h', signal: called.signal }, () => 'mine'),
      { name: 'AbortError' },
    ),
  ]
  await fleet.advance('5s')
  called.abort()
  await fleet.advance('30s')
  assert.deepEqual(await tried, { acquired: false, holder: null })
  await Promise.all(refused)
  fleet.end()
})
