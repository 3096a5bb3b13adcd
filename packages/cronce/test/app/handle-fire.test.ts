import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type HandleFireOptions, handleFire } from '../../src/app/handle-fire.ts'
import { type Cronce, cronce } from '../../src/index.ts'
import { deliveryHeaders } from '../../src/signature/delivery.ts'
import { sign, signCallback } from '../../src/signature.ts'
import { type TestKit, testKit } from '../../src/testing/test-kit.ts'
import { answerOf, fireRequest, SECRET, TOKEN } from './fire-request.ts'

const THREE = Date.parse('2027-01-01T03:00:00Z')

interface Bench {
  readonly kit: TestKit
  readonly app: Cronce
  readonly inputs: unknown[]
}

/** A started app: a schedule that is fired from outside, and one with its own trigger, at three. */
async function started(context: TestContext): Promise<Bench> {
  const kit = testKit({ now: '2027-01-01T02:59:00Z' })
  const app = kit.app()
  const inputs: unknown[] = []
  app
    .job('outside', { input: 'its own', overlap: 'allow' }, (run) => void inputs.push(run.fire.input))
    .job('nightly', '0 3 * * *', () => {})
  await app.start()
  context.after(() => app.stop())
  await kit.advanceTo(THREE)
  return { kit, app: app as Cronce, inputs }
}

/** It may have been run before the answer was made. */
function isTaken(status: number): boolean {
  return status === 202 || status === 200
}

async function refused(
  app: Cronce,
  request: Request,
  expected: readonly [status: number, code: string],
  options?: HandleFireOptions,
): Promise<void> {
  const { status, body } = await answerOf(app, request, options)
  assert.deepEqual([status, body.error?.code], expected)
  assert.equal(typeof body.error?.message, 'string')
  assert.equal(typeof body.error?.hint, 'string')
}

test('every way to identify a fire leads to the same fire', async (context) => {
  const { kit, app, inputs } = await started(context)
  const due = '2027-01-01T03:00:00Z'
  const event = {
    version: '0',
    id: '53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa',
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: '123456789012',
    time: due,
    region: 'us-east-1',
    resources: ['arn:aws:events:us-east-1:123456789012:rule/outside'],
    detail: {},
  }
  const google = {
    'x-cloudscheduler': 'true',
    'x-cloudscheduler-jobname': 'outside',
    'x-cloudscheduler-scheduletime': '2027-01-01T04:00:00+01:00',
  }
  const requests = [
    fireRequest('', { body: { schedule: 'outside', due } }),
    fireRequest('', { body: { schedule: 'outside', dueAt: THREE } }),
    fireRequest('', { body: { schedule: 'outside', due: '2027-01-01T04:00:00+01:00' } }),
    fireRequest(`?schedule=outside&due=${due}`),
    fireRequest(`?schedule=outside&due=${due}`, { method: 'GET' }),
    fireRequest(`?schedule=outside&due=${THREE}&id=17`),
    fireRequest(`?due=${due}`, { body: { schedule: 'outside', id: '17' } }),
    fireRequest('?schedule=outside', { body: { due } }),
    fireRequest('', { headers: { 'cronce-schedule': 'outside', 'cronce-due': due } }),
    fireRequest('', { headers: { 'cronce-schedule': '%6futside', 'cronce-due': due, 'cronce-fire-id': 'x' } }),
    fireRequest('', { headers: google }),
    fireRequest('', { headers: google, body: { their: 'payload', id: 7 } }),
    fireRequest('?schedule=outside', { headers: { ...google, 'x-cloudscheduler-jobname': 'other' } }),
    fireRequest('', { body: event }),
    fireRequest('?schedule=outside', { body: { ...event, resources: [] } }),
  ]
  const answers = await Promise.all(requests.map((request) => answerOf(app, request)))
  for (const { status, body } of answers) {
    assert.ok(isTaken(status), String(status))
    assert.deepEqual([body.schedule, body.dueAt, body.fire?.nonce, body.error], ['outside', THREE, '', undefined])
  }
  assert.equal(answers.filter(({ body }) => body.created).length, 1)

  await kit.advance('1s')
  assert.deepEqual(inputs, ['its own'])
  const { status, body } = await answerOf(app, requests[3]!.clone())
  assert.deepEqual([status, body.created, body.fire?.state], [200, false, 'succeeded'])
})

test('an external id is a separate fire, once, with an input if the request has one', async (context) => {
  const { kit, app, inputs } = await started(context)
  const requests = [
    fireRequest('', { body: { schedule: 'outside', id: 'order-17', input: { full: true } } }),
    fireRequest('?schedule=outside&id=order-17'),
    fireRequest('?schedule=outside', { body: { id: 'order-17', input: null } }),
    fireRequest('', { headers: { 'cronce-schedule': 'outside', 'cronce-fire-id': 'order-17' } }),
  ]
  const created: boolean[] = []
  for (const request of requests) {
    const { body } = await answerOf(app, request)
    assert.deepEqual([body.fire?.nonce, body.fire?.kind], ['order-17', 'manual'])
    created.push(body.created)
  }
  assert.deepEqual(created, [true, false, false, false])
  await kit.advance('1s')
  assert.deepEqual(inputs, [{ full: true }])
})

test('without an instant or an id the nearest one is meant, by the clock of the store', async (context) => {
  const { kit, app } = await started(context)
  await kit.advanceTo(THREE + 86_400_000 - 1_000)
  const early = await answerOf(app, fireRequest('?schedule=nightly', { method: 'GET' }))
  assert.deepEqual([early.status, early.body.dueAt, early.body.fire], [202, THREE + 86_400_000, null])
  await kit.advance('31s')
  for (const request of [
    fireRequest('?schedule=nightly', { method: 'GET' }),
    fireRequest('?schedule=nightly&due=auto'),
    fireRequest('', { body: { schedule: 'nightly' } }),
  ]) {
    const { status, body } = await answerOf(app, request)
    assert.deepEqual([status, body.dueAt, body.fire?.state], [200, THREE + 86_400_000, 'succeeded'])
  }
  await refused(app, fireRequest('?schedule=nightly'), [409, 'DUE_UNKNOWN'], { token: TOKEN, tolerance: '29s' })
  await kit.advance('31s')
  await refused(app, fireRequest('?schedule=nightly'), [409, 'DUE_UNKNOWN'])
  await refused(app, fireRequest('?schedule=outside'), [409, 'DUE_UNKNOWN'])
})

test('what cannot be a fire is refused with a code, and leaves nothing behind', async (context) => {
  const { kit, app } = await started(context)
  const cases: readonly (readonly [Request, number, string])[] = [
    [fireRequest(''), 400, 'FIRE_UNNAMED'],
    [fireRequest('?due=2027-01-01T03:00:00Z'), 400, 'FIRE_UNNAMED'],
    [fireRequest('', { body: { schedule: 17, due: THREE } }), 400, 'FIRE_UNNAMED'],
    [fireRequest('', { body: {} }), 400, 'FIRE_UNNAMED'],
    [fireRequest('', { headers: { 'cronce-schedule': '%ff' } }), 400, 'OPTION_INVALID'],
    [fireRequest('?schedule=&id=1', { headers: { 'cronce-schedule': 'outside' } }), 400, 'FIRE_UNNAMED'],
    [fireRequest('?schedule=nightly&due='), 400, 'OPTION_INVALID'],
    [fireRequest('?schedule=nightly&id='), 400, 'OPTION_INVALID'],
    [fireRequest('', { body: { schedule: 'nightly', due: '' } }), 400, 'OPTION_INVALID'],
    [fireRequest('?schedule=nightly', { headers: { 'cronce-due': '%ff' } }), 400, 'OPTION_INVALID'],
    [fireRequest('?schedule=gone&due=auto'), 404, 'SCHEDULE_NOT_FOUND'],
    [fireRequest("?schedule='%3Bdrop table&id=1"), 404, 'SCHEDULE_NOT_FOUND'],
    [fireRequest(`?schedule=${'x'.repeat(201)}&id=1`), 400, 'NAME_INVALID'],
    [fireRequest('?schedule=outside&due=yesterday'), 400, 'OPTION_INVALID'],
    [fireRequest('?schedule=outside&due=2027-01-01T03:00:00'), 400, 'OPTION_INVALID'],
    [fireRequest('', { body: { schedule: 'outside', due: {} } }), 400, 'OPTION_INVALID'],
    [fireRequest('', { body: { schedule: 'outside', due: 1e300 } }), 400, 'OPTION_INVALID'],
    [fireRequest('', { body: { schedule: 'outside', id: 17 } }), 400, 'OPTION_INVALID'],
    [fireRequest('', { body: { schedule: 'outside', id: 'x'.repeat(201) } }), 400, 'NAME_INVALID'],
    [fireRequest('', { body: { schedule: 'outside', deu: THREE } }), 400, 'OPTION_UNKNOWN'],
    [fireRequest('', { body: { schedule: 'outside', due: THREE, input: 1 } }), 400, 'OPTION_CONFLICT'],
    [fireRequest('', { body: '{' }), 400, 'BODY_INVALID'],
    [fireRequest('', { body: '[]' }), 400, 'BODY_INVALID'],
    [fireRequest('', { body: 'null' }), 400, 'BODY_INVALID'],
    [fireRequest('', { body: `${'['.repeat(30_000)}${']'.repeat(30_000)}` }), 400, 'BODY_INVALID'],
    [fireRequest('', { body: 'x', headers: { 'content-type': 'text/plain' } }), 415, 'BODY_TYPE_REFUSED'],
    [fireRequest('', { body: JSON.stringify('x'.repeat(65_536)) }), 413, 'BODY_TOO_LARGE'],
    [fireRequest('?schedule=nightly&due=2027-01-01T03:00:01Z'), 409, 'INSTANT_UNKNOWN'],
    [fireRequest('?schedule=outside&due=2026-01-01T03:00:00Z'), 409, 'FIRE_TOO_OLD'],
    [fireRequest('?schedule=outside&due=2027-01-01T03:01:01Z'), 425, 'FIRE_EARLY'],
    [fireRequest('?schedule=outside&id=1', { method: 'PUT' }), 405, 'METHOD_REFUSED'],
    [fireRequest('?schedule=outside&id=1', { method: 'HEAD' }), 405, 'METHOD_REFUSED'],
  ]
  for (const [request, status, code] of cases) await refused(app, request, [status, code])
  await kit.advance('1s')
  assert.deepEqual((await app.fires.list({ schedule: 'outside' })).items, [])
})

test('no request gets in without a token or a signature, and without either set none gets in at all', async (context) => {
  const { app } = await started(context)
  const request = (authorization?: string) =>
    fireRequest('?schedule=outside&id=1', { headers: authorization === undefined ? {} : { authorization } })
  const { CRONCE_FIRE_TOKEN, CRONCE_FIRE_SECRET } = process.env
  assert.deepEqual([CRONCE_FIRE_TOKEN, CRONCE_FIRE_SECRET], [undefined, undefined])
  await refused(app, request(), [401, 'FIRE_AUTH_MISSING'], {})
  await refused(app, request(), [401, 'FIRE_AUTH_MISSING'], { token: undefined, secret: undefined })
  for (const wrong of [
    '',
    'Bearer',
    'Bearer ',
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    `Basic ${TOKEN}`,
    TOKEN,
  ]) {
    await refused(app, request(wrong), [401, 'FIRE_AUTH_INVALID'])
  }
  const { headers } = await answerOf(app, request('Bearer wrong'))
  assert.equal(headers.get('www-authenticate'), 'Bearer')
  await refused(app, request(), [503, 'SECRET_INVALID'], { token: 'short' })
  await refused(app, request(), [503, 'SECRET_INVALID'], { token: '' })
  await refused(app, request(), [401, 'SIGNATURE_MISSING'], { secret: SECRET })
  assert.deepEqual((await app.fires.list({ schedule: 'outside' })).items, [])

  assert.ok(isTaken((await answerOf(app, request(), { token: ['another-token-entirely', TOKEN] })).status))
  assert.ok(isTaken((await answerOf(app, request(`bearer ${TOKEN}`))).status))
})

test('a mistake on our side is logged here, once, and not shown to the sender', async (context) => {
  const { app } = await started(context)
  const told: string[] = []
  const logger = { error: (message: string) => void told.push(message), warn: () => {} }
  const parts = { client: app, isStarted: () => true, runDue: () => app.runDue(), logger }
  for (let time = 0; time < 3; time++) {
    const answer = await handleFire(parts, fireRequest('?schedule=outside&id=1'), { token: 'short' })
    assert.deepEqual(await answer.json(), {
      error: {
        code: 'SECRET_INVALID',
        message: 'Requests cannot be accepted right now.',
        hint: 'Try again later; the log of this process says why.',
      },
    })
    assert.equal(answer.status, 503)
  }
  assert.equal(told.length, 1)
  assert.match(told[0]!, /a secret has 5 characters.*\(SECRET_INVALID\)$/)
})

test('the environment may hold the token and the secret, several with commas between them', async (context) => {
  const { app } = await started(context)
  const set = (variables: Record<string, string>): void => void Object.assign(process.env, variables)
  context.after(() => {
    for (const name of ['CRONCE_FIRE_TOKEN', 'CRONCE_FIRE_SECRET']) delete process.env[name]
  })
  set({ CRONCE_FIRE_TOKEN: '' })
  await refused(app, fireRequest('?schedule=outside&id=1'), [401, 'FIRE_AUTH_MISSING'], {})
  set({ CRONCE_FIRE_TOKEN: `another-token-entirely, ${TOKEN}` })
  assert.ok(isTaken((await answerOf(app, fireRequest('?schedule=outside&id=1'), {})).status))
  set({ CRONCE_FIRE_SECRET: SECRET })
  const body = JSON.stringify({ schedule: 'outside', id: '1' })
  const headers = await sign({ headers: { 'content-type': 'application/json' }, body }, { secret: SECRET })
  assert.ok(isTaken((await answerOf(app, fireRequest('', { headers, body }), {})).status))
})

test('of a signed request only what the signature covers counts', async (context) => {
  const { app } = await started(context)
  const options = { token: TOKEN, secret: SECRET }
  const signed = async (headers: Record<string, string>, body?: string): Promise<Request> => {
    const all = await sign({ headers, body }, { secret: SECRET })
    return fireRequest('?schedule=nightly&id=evil', { headers: { ...all, authorization: '' }, body })
  }
  const json = { 'content-type': 'application/json' }
  const byBody = await answerOf(app, await signed(json, JSON.stringify({ schedule: 'outside', id: 'good' })), options)
  assert.deepEqual([isTaken(byBody.status), byBody.body.schedule, byBody.body.fire?.nonce], [true, 'outside', 'good'])
  const byHeaders = await answerOf(
    app,
    await signed({ 'cronce-schedule': 'outside', 'cronce-due': String(THREE) }),
    options,
  )
  assert.deepEqual([isTaken(byHeaders.status), byHeaders.body.schedule, byHeaders.body.dueAt], [true, 'outside', THREE])
  await refused(app, await signed({}), [400, 'FIRE_UNNAMED'], options)
  const google = { 'x-cloudscheduler-jobname': 'outside', 'x-cloudscheduler-scheduletime': '2027-01-01T03:00:00Z' }
  await refused(app, await signed(google), [400, 'FIRE_UNNAMED'], options)

  const sent = await signed(json, JSON.stringify({ schedule: 'outside', id: 'good' }))
  const changed = fireRequest('', {
    headers: Object.fromEntries(sent.headers),
    body: { schedule: 'outside', id: 'evil' },
  })
  await refused(app, changed, [401, 'SIGNATURE_INVALID'], options)
  const old = await sign({ headers: json, body: '{}' }, { secret: SECRET, now: Date.now() - 301_000 })
  await refused(app, fireRequest('', { headers: old, body: '{}' }), [401, 'SIGNATURE_EXPIRED'], options)
  const completion = await signCallback(
    { namespace: 'default', schedule: 'outside', token: '1' },
    { outcome: 'succeeded' },
    { secret: SECRET },
  )
  await refused(app, fireRequest('', completion), [401, 'SIGNATURE_INVALID'], options)
  const fireId = `outside@${new Date(THREE).toISOString()}`
  const asked = { fireId, namespace: 'default', schedule: 'outside', job: 'outside', dueAt: THREE, attempt: 1 }
  const ours = deliveryHeaders({ ...asked, token: '1', idempotencyKey: 'cronce_key', callback: null })
  await refused(app, await signed(ours), [401, 'SIGNATURE_INVALID'], options)
})

test('every request is answered, with a fire or with a code', async (context) => {
  const { app } = await started(context)
  const text = fc.oneof(fc.constantFrom('outside', 'nightly', 'auto', '', String(THREE)), fc.string({ unit: 'binary' }))
  const value = fc.oneof(text, fc.jsonValue())
  const body = fc.oneof(
    fc.record({ schedule: value, due: value, dueAt: value, id: value, input: value }, { requiredKeys: [] }),
    fc.record({ 'detail-type': fc.constant('Scheduled Event'), time: value, resources: value }, { requiredKeys: [] }),
    fc.jsonValue(),
  )
  const query = fc.record({ schedule: text, due: text, id: text }, { requiredKeys: [] })
  const ours = fc.record(
    { 'cronce-schedule': text, 'cronce-due': text, 'cronce-fire-id': text, 'x-cloudscheduler-scheduletime': text },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(query, ours, fc.option(body), async (parameters, headers, content) => {
      const search = new URLSearchParams(Object.entries(parameters))
      const sent = Object.entries(headers).map(([name, given]) => [name, given.replace(/[^\x20-\x7e]/g, '?')])
      const request = fireRequest(`?${search}`, {
        headers: Object.fromEntries(sent) as Record<string, string>,
        ...(content === null ? {} : { body: JSON.stringify(content) }),
      })
      const { status, body: answer } = await answerOf(app, request)
      if (isTaken(status)) assert.equal(typeof answer.dueAt, 'number')
      else assert.match(`${status} ${answer.error?.code}`, /^4\d\d [A-Z_]+$/)
    }),
    { numRuns: 100 },
  )
})

test('a store that does not answer is 503, with a time to retry', async (context) => {
  const app = cronce({ store: 'sqlite:/no/such/folder/cronce.db', logger: false, signals: false })
  context.after(() => app.stop())
  const answer = await answerOf(app, fireRequest('?schedule=outside&id=1'))
  assert.equal(answer.status, 503)
  assert.match(answer.body.error!.code, /^STORE_/)
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
})
