import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../src/model/change.ts'
import type { StoreCall } from '../virtual/link.ts'
import { type App, createFleet, type Fleet, type Member } from './fleet.ts'

const BYSTANDERS = Array.from({ length: 20 }, (_, index) => `bystander-${index}`)

/** A job that comes to what the store can't write, among others that end at the same moment. */
async function fleetWith(poison: () => unknown): Promise<{ readonly fleet: Fleet; readonly only: Member }> {
  const fleet = await createFleet()
  const declare = (app: App, { clock }: Member): void => {
    const job = (name: string, end: () => unknown) => app.job(name, '1 0 * * *', () => clock.sleep(10_000).then(end))
    job('poison', poison)
    for (const name of BYSTANDERS) job(name, () => name)
  }
  const only = await fleet.add(declare, { concurrency: 50 })
  return { fleet, only }
}

/** What the store throws at every attempt to write what this is about, with all that is written along with it. */
function refuses(only: Member, isAbout: (change: Change) => boolean, error: () => Error): () => void {
  return only.link.disturb(({ name, args }: StoreCall) => {
    if (name === 'apply' && (args[0] as readonly Change[]).some(isAbout)) throw error()
    return null
  })
}

const overflow = (): Error => new RangeError('Maximum call stack size exceeded')
const mentions = (change: Change): boolean => JSON.stringify(change.history).includes('POISON')
const ends = ({ history }: Change): boolean => history.some(({ schedule }) => schedule === 'poison')

async function bystandersOf(fleet: Fleet): Promise<unknown[]> {
  const found: unknown[] = []
  for (const schedule of BYSTANDERS) {
    const { items } = await fleet.operator.runs.list({ schedule })
    found.push(...items.map(({ state, result }) => (state === 'succeeded' ? result : state)))
  }
  return found
}

for (const [what, error] of Object.entries({
  'can not be made a text of': overflow,
  'the server refuses': () => Object.assign(new Error('invalid byte sequence'), { code: 'STORE_REFUSED' }),
})) {
  test(`a result that ${what} is cut, its run has succeeded, and the others' ends are written as they are`, async () => {
    const { fleet, only } = await fleetWith(() => 'POISON')
    refuses(only, mentions, error)
    await fleet.advance('2m')
    assert.deepEqual(await bystandersOf(fleet), BYSTANDERS)
    const { items } = await fleet.operator.runs.list({ schedule: 'poison' })
    assert.deepEqual(
      items.map(({ state, result }) => [state, result]),
      [['succeeded', `[cut: ${error().message}]`]],
    )
    assert.equal(fleet.handled.length, BYSTANDERS.length + 1)
    fleet.end()
  })
}

test('an error that cannot be written is cut, and its run has failed', async () => {
  const { fleet, only } = await fleetWith(() => {
    throw new Error('POISON')
  })
  refuses(only, mentions, overflow)
  await fleet.advance('2m')
  assert.deepEqual(await bystandersOf(fleet), BYSTANDERS)
  const { items } = await fleet.operator.runs.list({ schedule: 'poison' })
  const mark = '[cut: Maximum call stack size exceeded]'
  assert.deepEqual(
    items.map(({ state, reason, detail, error }) => [state, reason, detail, error?.message]),
    [['failed', 'error', mark, mark]],
  )
  fleet.end()
})

test('an end that cannot be written delays no other, is tried at intervals, and is written eventually', async () => {
  const { fleet, only } = await fleetWith(() => 'POISON')
  const works = refuses(only, ends, overflow)
  await fleet.advance('80s')
  assert.deepEqual(await bystandersOf(fleet), BYSTANDERS)
  const before = only.link.calls.get('apply') ?? 0
  await fleet.advance('5m')
  const tried = (only.link.calls.get('apply') ?? 0) - before
  assert.ok(tried > 10 && tried < 200, `tried ${tried} times in five minutes`)
  works()
  await fleet.advance('10s')
  const { items } = await fleet.operator.runs.list({ schedule: 'poison' })
  assert.deepEqual(
    items.map(({ state }) => state),
    ['succeeded'],
  )
  fleet.end()
})

for (const [code, together] of [
  ['ECONNRESET', true],
  ['STORE_FULL', true],
  ['STORE_FAILED', false],
] as const) {
  test(`a store that fails (${code}), for however long, costs no result`, async () => {
    const { fleet, only } = await fleetWith(() => 'POISON')
    const isEnd = ({ history }: Change): boolean => history.length > 0
    const isBack = refuses(only, isEnd, () => Object.assign(new Error('Not now.'), { code }))
    await fleet.advance('10m')
    isBack()
    const before = only.link.calls.get('apply') ?? 0
    await fleet.advance('10s')
    const writes = (only.link.calls.get('apply') ?? 0) - before
    assert.deepEqual(await bystandersOf(fleet), BYSTANDERS)
    const { items } = await fleet.operator.runs.list({ schedule: 'poison' })
    assert.deepEqual(
      items.map(({ state, result }) => [state, result]),
      [['succeeded', 'POISON']],
    )
    // What fails for all is not a reason to write one by one.
    assert.equal(writes === 1, together, `${writes} writes`)
    fleet.end()
  })
}

for (const error of [
  Object.assign(new Error('postgres refused a statement: out of memory.'), { code: 'STORE_FAILED' }),
  // The error of fetch for a server that is down.
  new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) }),
  new Error('The cable is unplugged.'),
]) {
  test(`trouble of the server that passes costs no result of an end that is alone, however often it comes: ${error.message}`, async () => {
    for (const times of [1, 2, 3, 4, 5]) {
      const fleet = await createFleet()
      const only = await fleet.add((app) => app.job('alone', '1 0 * * *', () => ({ invoice: 42 })))
      let left = times
      const isEnd = ({ history }: Change): boolean => left > 0 && history.length > 0 && left-- > 0
      refuses(only, isEnd, () => error)
      await fleet.advance('2m')
      const { items } = await fleet.operator.runs.list({ schedule: 'alone' })
      assert.deepEqual(
        [left, ...items.map(({ state, result }) => [state, result])],
        [0, ['succeeded', { invoice: 42 }]],
      )
      fleet.end()
    }
  })
}
