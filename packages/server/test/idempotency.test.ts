import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect } from 'cronce'
import type { Answer } from '../src/answer.ts'
import { createHandler } from '../src/index.ts'
import { KeptAnswers } from '../src/kept-answers.ts'
import { apiOf, ask, codeOf } from './kit.ts'

const KEY = { 'idempotency-key': 'key 1' }

describe('an idempotency key', () => {
  test('of a trigger is kept in the store: one fire, whichever server is asked', async (context) => {
    const { app, handler } = apiOf(context)
    const other = createHandler(app, { access: () => 'operate' })
    await app.schedules.create('s', { job: 'j' })
    const path = '/api/v1/schedules/s/trigger'
    const first = await ask(handler, 'POST', path, { headers: KEY, body: { input: { n: 1 } } })
    const again = await ask(other, 'POST', path, { headers: KEY, body: { input: { n: 1 } } })
    assert.deepEqual([first.body.created, again.body.created], [true, false])
    assert.equal(again.body.fire.nonce, 'key 1')
    for (const body of [{ input: { n: 2 } }, {}, { input: null }, { input: { n: 1 }, note: 'another' }]) {
      const reused = await ask(other, 'POST', path, { headers: KEY, body })
      assert.equal(codeOf(reused), '409 IDEMPOTENCY_KEY_REUSED', JSON.stringify(body))
    }
    const both = await ask(other, 'POST', path, { headers: KEY, body: { dedupe: 'another' } })
    assert.equal(codeOf(both), '400 OPTION_CONFLICT')
    assert.equal((await app.fires.list({ schedule: 's' })).items.length, 1)
    const plain = { headers: { 'idempotency-key': 'key 2' }, text: '{"note":"why","input":[-0]}' }
    const answers = [await ask(handler, 'POST', path, plain), await ask(other, 'POST', path, plain)]
    assert.deepEqual(
      answers.map(({ body }) => body.created),
      [true, false],
    )
  })

  test('of any other command gives the first answer again, and nothing is done again', async (context) => {
    const { app, ask } = apiOf(context)
    await app.schedules.create('s', { job: 'j', every: '1h' })
    const { nextAt } = await app.schedules.get('s')
    const skip = { headers: KEY, body: { dueAt: nextAt } }
    const first = await ask('POST', '/api/v1/schedules/s/skip-next', skip)
    const again = await ask('POST', '/api/v1/schedules/s/skip-next', skip)
    assert.deepEqual(again.body, first.body)
    assert.deepEqual(
      [first, again].map(({ headers }) => headers.get('idempotency-replayed')),
      [null, 'true'],
    )
    const other = await ask('POST', '/api/v1/schedules/s/skip-next', { headers: KEY, body: { dueAt: nextAt! + 1 } })
    assert.equal(codeOf(other), '409 IDEMPOTENCY_KEY_REUSED')
    const elsewhere = await ask('POST', '/api/v1/schedules/s/pause', { headers: KEY })
    assert.equal(codeOf(elsewhere), '409 IDEMPOTENCY_KEY_REUSED')
    const without = await ask('POST', '/api/v1/schedules/s/skip-next', { body: { dueAt: nextAt } })
    assert.equal(codeOf(without), '409 NEXT_CHANGED')
  })

  test('that comes ten times at once is worked on once', async (context) => {
    const client = await connect({ store: 'memory:' })
    context.after(() => client.close())
    await client.schedules.create('s', { job: 'j', every: '1h' })
    let calls = 0
    const pause: typeof client.schedules.pause = async (...args) => {
      calls++
      await new Promise((resolve) => setTimeout(resolve, 50))
      return client.schedules.pause(...args)
    }
    const source = { ...client, schedules: { ...client.schedules, pause } }
    const handler = createHandler(source, { access: () => 'operate' })
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ask(handler, 'POST', '/api/v1/schedules/s/pause', { headers: KEY })),
    )
    assert.equal(calls, 1)
    assert.deepEqual(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1)
  })

  test('that makes no sense is refused', async (context) => {
    const { app, ask } = apiOf(context)
    await app.schedules.create('s', { job: 'j' })
    for (const key of ['', 'x'.repeat(201), 'umläut', 'tab\tinside']) {
      const asked = await ask('POST', '/api/v1/schedules/s/trigger', { headers: { 'idempotency-key': key } })
      assert.equal(codeOf(asked), '400 IDEMPOTENCY_KEY_INVALID', key)
    }
  })
})

describe('kept answers', () => {
  const done: Answer = { status: 200, text: '{}', headers: {} }

  test('go after a day, and when there are more than ten thousand', async () => {
    let now = 0
    let calls = 0
    const answers = new KeptAnswers(() => now)
    const work = async (): Promise<Answer> => {
      calls++
      return done
    }
    await answers.once('a', 'r', work)
    now = 24 * 3_600_000 - 1
    await answers.once('a', 'r', work)
    assert.equal(calls, 1)
    now += 2
    await answers.once('a', 'r', work)
    assert.equal(calls, 2)
    for (let number = 0; number < 10_000; number++) await answers.once(`k${number}`, 'r', work)
    assert.equal(calls, 10_002)
    await answers.once('k9999', 'r', work)
    assert.equal(calls, 10_002, 'the latest is there')
    await answers.once('a', 'r', work)
    assert.equal(calls, 10_003, 'the oldest is gone')
  })

  test('does not store refusals and faults: what was not done may be tried again', async () => {
    const answers = new KeptAnswers()
    for (const status of [404, 409, 425, 429, 500, 503]) {
      assert.equal((await answers.once('a', 'r', async () => ({ ...done, status }))).status, status)
    }
    await assert.rejects(
      answers.once('a', 'r', async () => {
        throw new Error('broken')
      }),
    )
    assert.equal((await answers.once('a', 'r', async () => done)).status, 200)
  })

  test('are bounded in bytes, too', async () => {
    const answers = new KeptAnswers()
    const large: Answer = { ...done, text: 'x'.repeat(8 * 1024 * 1024) }
    let calls = 0
    const work = async (): Promise<Answer> => {
      calls++
      return large
    }
    for (let number = 0; number < 12; number++) await answers.once(`k${number}`, 'r', work)
    await answers.once('k0', 'r', work)
    assert.equal(calls, 13)
  })
})
