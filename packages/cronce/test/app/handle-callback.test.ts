import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { type Cronce, type CronceEvent, cronce, type EventType, type JobOptions } from '../../src/index.ts'
import { type Completion, type Delivery, signCallback, verify } from '../../src/signature.ts'
import { answers, endpoint } from '../target/http-run.ts'
import { listen } from '../target/listen.ts'

const SECRET = 'whsec_do-not-use-this-one'
const OTHER = 'whsec_nor-this-one-either'
/** A name that is not easy to put into a path. */
const NAME = 'nächtlich/1 %'

const folder = mkdtempSync(join(tmpdir(), 'cronce-callback-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface Bench {
  readonly app: Cronce
  /** What the endpoint was asked to do, one after the other. */
  readonly next: () => Promise<Delivery>
  readonly event: (type: EventType) => Promise<CronceEvent>
  readonly trigger: () => Promise<void>
}

interface Setup {
  readonly store?: string
  readonly within?: '1h' | '1s'
  readonly job?: JobOptions
  readonly status?: number
  /** Before the endpoint answers. */
  readonly before?: (delivery: Delivery) => Promise<unknown>
}

/** A started app, its side of call-backs on a server, and an endpoint that takes work on. */
async function bench(context: TestContext, setup: Setup = {}): Promise<Bench> {
  const { store = 'memory:', within = '1h', job = {}, status = 202, before = async () => {} } = setup
  const app = cronce({ store, signals: false, logger: false })
  // Registered first, so that it stops before the servers do.
  context.after(() => app.stop())
  const ours = await listen(
    context,
    createServer((message, response) => {
      const [, folder, schedule = '', token = ''] = (message.url ?? '').split('/')
      assert.equal(folder, 'callbacks')
      const parts: Buffer[] = []
      message.on('data', (part: Buffer) => parts.push(part))
      message.on('end', async () => {
        const headers = message.headers as Record<string, string>
        const request = new Request('https://ours.example', { method: 'POST', headers, body: Buffer.concat(parts) })
        const named = { schedule: decodeURIComponent(schedule), token, secret: SECRET }
        const answer = await app.handleCallback(request, named)
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
      })
    }),
  )
  const waiting: PromiseWithResolvers<Delivery>[] = []
  const asked: Delivery[] = []
  const theirs = await endpoint(context, async (arrived, response) => {
    const delivery = await verify(arrived, { secret: SECRET })
    await before(delivery)
    response.writeHead(status).end()
    const [first] = waiting.splice(0, 1)
    if (first === undefined) asked.push(delivery)
    else first.resolve(delivery)
  })
  app.job(NAME, {
    ...job,
    http: { url: theirs.origin, secret: SECRET, allowPrivate: [theirs.host], callback: { url: ours, within } },
  })
  await app.start()
  return {
    app,
    async next() {
      const [first] = asked.splice(0, 1)
      if (first !== undefined) return first
      const later = Promise.withResolvers<Delivery>()
      waiting.push(later)
      return later.promise
    },
    event(type) {
      const { promise, resolve } = Promise.withResolvers<CronceEvent>()
      const unlisten = app.on(type, (event) => {
        unlisten()
        resolve(event)
      })
      return promise
    },
    async trigger() {
      await app.schedules.trigger(NAME)
    },
  }
}

async function callBack(
  delivery: Delivery,
  completion: Completion,
): Promise<{ status: number; code: string | undefined }> {
  const answer = await fetch(delivery.callback!.url, await signCallback(delivery, completion, { secret: SECRET }))
  const { error } = (await answer.json()) as { error?: { code: string } }
  return { status: answer.status, code: error?.code }
}

for (const name of ['memory', 'SQLite']) {
  test(`on ${name}, a run whose endpoint answered 202 stays open until that calls back, and the same again is not an error`, async (context) => {
    const store = name === 'memory' ? 'memory:' : `sqlite:${join(folder, 'cronce.db')}`
    const { app, next, event, trigger } = await bench(context, { store })
    const parked = event('run.parked')
    await trigger()
    const delivery = await next()
    await parked
    assert.equal((await app.runs.get(NAME, delivery.token)).endedAt, null)

    const completion: Completion = { outcome: 'succeeded', result: { rows: 7 } }
    assert.deepEqual(await callBack(delivery, completion), { status: 200, code: undefined })
    assert.deepEqual(await callBack(delivery, completion), { status: 200, code: undefined })
    const { state, result } = await app.runs.get(NAME, delivery.token)
    assert.deepEqual([state, result], ['succeeded', { rows: 7 }])
    const other = await callBack(delivery, { outcome: 'failed', error: 'after all' })
    assert.deepEqual(other, { status: 409, code: 'RUN_NOT_OPEN' })
    assert.equal((await app.runs.list({ schedule: NAME })).items.length, 1)
  })
}

test('a failure by call-back is retried as the policy requires, and then the token of the first run is stale', async (context) => {
  const { app, next, trigger, event } = await bench(context, {
    job: { retry: { attempts: 1, backoff: { base: '10ms' } } },
  })
  await trigger()
  const first = await next()
  assert.equal((await callBack(first, { outcome: 'failed', error: 'out of paper' })).status, 200)
  const second = await next()
  assert.deepEqual([first.fireId === second.fireId, first.attempt, second.attempt], [true, 1, 2])
  assert.equal(first.idempotencyKey, second.idempotencyKey)
  assert.deepEqual(await callBack(first, { outcome: 'succeeded' }), { status: 409, code: 'RUN_NOT_OPEN' })
  const ended = event('fire.ended')
  assert.equal((await callBack(second, { outcome: 'succeeded' })).status, 200)
  await ended
  const { items } = await app.runs.list({ schedule: NAME })
  assert.deepEqual(
    items.map(({ token, state, error }) => [token, state, error?.message]),
    [
      [second.token, 'succeeded', undefined],
      [first.token, 'failed', 'out of paper'],
    ],
  )
})

test('a failure that is not worth another run is the end of its fire', async (context) => {
  const { app, next, trigger } = await bench(context, { job: { retry: 3 } })
  await trigger()
  const delivery = await next()
  assert.equal(
    (await callBack(delivery, { outcome: 'failed', error: 'no such customer', retryable: false })).status,
    200,
  )
  const { items } = await app.fires.list({ schedule: NAME })
  assert.deepEqual(
    items.map(({ state, attempt }) => [state, attempt]),
    [['failed', 1]],
  )
})

test('without a call-back in time the run has failed, and a late one is refused', async (context) => {
  const { app, next, event, trigger } = await bench(context, { within: '1s' })
  const ended = event('fire.ended')
  await trigger()
  const delivery = await next()
  await ended
  const { state, reason } = await app.runs.get(NAME, delivery.token)
  assert.deepEqual([state, reason], ['failed', 'timeout'])
  assert.deepEqual(await callBack(delivery, { outcome: 'succeeded' }), { status: 409, code: 'RUN_NOT_OPEN' })
})

test('an endpoint may call back before it has answered: the run is completed once it is parked', async (context) => {
  let calling: ReturnType<typeof callBack> | undefined
  const { app, next, trigger } = await bench(context, {
    async before(delivery) {
      calling = callBack(delivery, { outcome: 'succeeded', result: 'early' })
      // It is on its way, and most likely there, before our own answer is.
      await new Promise((resolve) => setTimeout(resolve, 50))
    },
  })
  await trigger()
  const delivery = await next()
  assert.deepEqual(await calling, { status: 200, code: undefined })
  const { state, result } = await app.runs.get(NAME, delivery.token)
  assert.deepEqual([state, result], ['succeeded', 'early'])
})

test('an endpoint that is done at once answers with the outcome, and has nothing left to complete', async (context) => {
  const { app, next, event, trigger } = await bench(context, { status: 200 })
  const ended = event('fire.ended')
  await trigger()
  const delivery = await next()
  await ended
  assert.deepEqual(await callBack(delivery, { outcome: 'failed' }), { status: 409, code: 'RUN_NOT_OPEN' })
  assert.equal((await app.runs.get(NAME, delivery.token)).state, 'succeeded')
})

test('no request completes a run without the secret, for another run, or by another method', async (context) => {
  const { app, next, event, trigger } = await bench(context)
  const parked = event('run.parked')
  await trigger()
  const delivery = await next()
  await parked
  const run = { namespace: 'default', schedule: NAME, token: delivery.token }
  const completed = async (secret: string, about = run, method = 'POST'): Promise<Request> => {
    const { headers, body } = await signCallback(about, { outcome: 'succeeded' }, { secret })
    return new Request('https://ours.example', { method, headers, body })
  }
  const codeOf = async (request: Request, options: { secret?: string; token?: string } = {}): Promise<unknown[]> => {
    const answer = await app.handleCallback(request, { ...run, secret: SECRET, ...options })
    const { error } = (await answer.json()) as { error?: { code: string } }
    return [answer.status, error?.code]
  }
  assert.deepEqual(await codeOf(await completed('another-secret-entirely')), [401, 'SIGNATURE_INVALID'])
  assert.deepEqual(await codeOf(await completed(SECRET, { ...run, token: '1' })), [401, 'SIGNATURE_INVALID'])
  assert.deepEqual(await codeOf(await completed(SECRET, run, 'PUT')), [405, 'METHOD_REFUSED'])
  const bare = new Request('https://ours.example', { method: 'POST', body: '{"outcome":"succeeded"}' })
  assert.deepEqual(await codeOf(bare), [401, 'SIGNATURE_MISSING'])
  const unknown = { namespace: 'default', schedule: 'gone', token: '17' }
  const lost = await app.handleCallback(await completed(SECRET, unknown), { ...unknown, secret: SECRET })
  assert.equal(lost.status, 404)
  const nonsense = { ...run, token: '../17' }
  assert.deepEqual(await codeOf(await completed(SECRET, nonsense), nonsense), [400, 'OPTION_INVALID'])
  assert.equal((await app.runs.get(NAME, delivery.token)).endedAt, null)
  assert.deepEqual(await codeOf(await completed(SECRET)), [200, undefined])
})

test('a call-back is signed with the secret of its own target: of nine, none completes the run of another', async (context) => {
  const app = cronce({ store: 'memory:', signals: false, logger: false })
  context.after(() => app.stop())
  const names = Array.from({ length: 9 }, (_, index) => `job ${index}`)
  const secretOf = (name: string): string => `whsec_the-one-of-${name}`
  const theirs = await endpoint(context, answers(202))
  for (const name of names) {
    const callback = { url: 'https://ours.example', within: '1h' } as const
    const target = { url: theirs.origin, allowPrivate: [theirs.host], callback } as const
    app.job(name, { http: { ...target, secret: secretOf(name) } })
  }
  await app.runDue()
  for (const name of names) await app.schedules.trigger(name)
  await app.runDue()
  const { items } = await app.runs.list()
  assert.equal(items.length, 9)
  const complete = async (schedule: string, token: string, changes: { secret?: string; namespace?: string } = {}) => {
    const { secret = secretOf(schedule), namespace = 'default' } = changes
    const { headers, body } = await signCallback({ namespace, schedule, token }, { outcome: 'succeeded' }, { secret })
    const request = new Request('https://ours.example', { method: 'POST', headers, body })
    const answer = await app.handleCallback(request, { schedule, token })
    const { error } = (await answer.json()) as { error?: { code: string } }
    return [answer.status, error?.code]
  }
  for (const { schedule, token } of items) {
    const other = secretOf(schedule === 'job 0' ? 'job 1' : 'job 0')
    assert.deepEqual(await complete(schedule, token, { secret: other }), [401, 'SIGNATURE_INVALID'])
    assert.deepEqual(await complete(schedule, token, { namespace: 'other' }), [401, 'SIGNATURE_INVALID'])
    assert.deepEqual(await complete(schedule, token), [200, undefined])
  }
  assert.deepEqual(await complete('job 0', '17592186044416999'), [409, 'RUN_NOT_OPEN'])
  assert.deepEqual(await complete('nobody', '1'), [401, 'CALLBACK_AUTH_MISSING'])
  await app.schedules.create('more', { job: 'job 0' })
  await app.schedules.trigger('more')
  await app.runDue()
  const [more] = (await app.runs.list({ schedule: 'more' })).items
  assert.deepEqual(await complete('more', more!.token), [401, 'SIGNATURE_INVALID'])
  assert.deepEqual(await complete('more', more!.token, { secret: secretOf('job 0') }), [200, undefined])
})

test('handleCallback may choose the secret of each schedule', async (context) => {
  const { app, next, event, trigger } = await bench(context)
  const parked = event('run.parked')
  await trigger()
  const { namespace, schedule, token } = await next()
  await parked
  const asked: string[] = []
  const complete = async (secret: string | undefined): Promise<number> => {
    const signed = await signCallback({ namespace, schedule, token }, { outcome: 'succeeded' }, { secret: OTHER })
    const request = new Request('https://ours.example', signed)
    const secretOf = (name: string): string | undefined => {
      asked.push(name)
      return secret
    }
    const { status } = await app.handleCallback(request, { schedule, token, secret: secretOf })
    return status
  }
  assert.equal(await complete('whsec_neither-this-one'), 401)
  assert.equal(await complete(OTHER), 200)
  assert.deepEqual(asked, [NAME, NAME])
})

test('the scheduler itself honours what an endpoint asks for: when to come again, and not to come again', async (context) => {
  const app = cronce({ store: 'memory:', signals: false, logger: false })
  context.after(() => app.stop())
  const busy = await endpoint(context, answers(503, { 'retry-after': '3600' }))
  const never = await endpoint(context, answers(422))
  const http = (origin: string, host: string) => ({ url: origin, allowPrivate: [host] })
  app
    .job('busy', { retry: 5, http: http(busy.origin, busy.host) })
    .job('never', { retry: 5, http: http(never.origin, never.host) })
  for (const job of ['busy', 'never']) {
    // Declares them on the first round.
    await app.runDue()
    await app.schedules.trigger(job)
    await app.runDue()
  }
  const [open] = (await app.schedules.get('busy')).open
  const waitMs = open!.readyAt - Date.now()
  assert.ok(waitMs > 3_000_000 && waitMs <= 3_600_000, String(waitMs))
  const { items } = await app.fires.list({ schedule: 'never' })
  assert.deepEqual(
    items.map(({ state, attempt }) => [state, attempt]),
    [['failed', 1]],
  )
  assert.equal(never.arrived.length, 1)
})
