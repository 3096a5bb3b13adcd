import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { verify } from '../../src/signature.ts'
import { httpHandler } from '../../src/target/http/http-handler.ts'
import type { HttpOptions } from '../../src/target/http/http-options.ts'
import { answers, endpoint, targetRun } from './http-run.ts'

const SECRET = 'whsec_do-not-use-this-one'

function call(options: HttpOptions, run = targetRun()): Promise<unknown> {
  return httpHandler('report', { allowPrivate: ['127.0.0.1/32'], ...options })(run)
}

test('the endpoint gets the run in headers and in the body, and its verifier agrees', async (context) => {
  const { origin, arrived } = await endpoint(
    context,
    answers(200, { 'content-type': 'application/json' }, '{"rows":3}'),
  )
  const result = await call({ url: `${origin}/jobs?key=1`, secret: SECRET, headers: { Authorization: 'Bearer x' } })

  assert.deepEqual(result, { status: 200, body: { rows: 3 } })
  const [{ method, path, headers, body }] = arrived as [(typeof arrived)[0]]
  assert.deepEqual([method, path, headers['content-type']], ['POST', '/jobs?key=1', 'application/json'])
  assert.equal(headers.authorization, 'Bearer x')
  assert.match(headers['user-agent'] ?? '', /^cronce\/\d/)
  const told = {
    fireId: 'nightly@2027-01-01T03:00:00.000Z',
    namespace: 'default',
    schedule: 'nightly',
    job: 'report',
    dueAt: Date.parse('2027-01-01T03:00:00Z'),
    attempt: 2,
    token: '17592186044417',
    idempotencyKey: 'cronce_key',
  }
  assert.deepEqual(await verify({ headers, body }, { secret: SECRET }), { ...told, callback: null, body })
  assert.deepEqual(JSON.parse(body), { ...told, input: { to: 'ada' } })
})

test('a body of your own is sent as it is, as JSON, or not at all', async (context) => {
  const { origin, arrived } = await endpoint(context, answers(204))
  await call({ url: origin, body: 'größer' })
  await call({ url: origin, body: { a: [1] } })
  await call({ url: origin, body: null })
  await call({ url: origin, method: 'GET' })
  await call({ url: origin, method: 'PUT', body: '<a/>', headers: { 'Content-Type': 'application/xml' } })
  assert.deepEqual(
    arrived.map(({ method, headers, body }) => [method, headers['content-type'], body]),
    [
      ['POST', 'text/plain; charset=utf-8', 'größer'],
      ['POST', 'application/json', '{"a":[1]}'],
      ['POST', undefined, ''],
      ['GET', undefined, ''],
      ['PUT', 'application/xml', '<a/>'],
    ],
  )
})

test('the class of the status decides: done, worth another run, or not', async (context) => {
  let status = 200
  const { origin, host } = await endpoint(context, (_, response) => response.writeHead(status).end('why'))
  for (status of [200, 201, 202, 204, 299]) {
    assert.equal(((await call({ url: origin })) as { status: number }).status, status)
  }
  for (status of [408, 425, 429, 500, 502, 503, 504, 599]) {
    const expected = { code: 'HTTP_STATUS', retryable: true, message: `POST to ${host} answered ${status}.` }
    await assert.rejects(call({ url: origin }), expected)
  }
  for (status of [301, 304, 307, 400, 401, 403, 404, 409, 410, 422]) {
    await assert.rejects(call({ url: origin }), { code: 'HTTP_STATUS', retryable: false })
  }
})

test('the error body of an endpoint goes to the log of the run', async (context) => {
  const { origin } = await endpoint(context, answers(500, {}, 'out of paper'))
  const run = targetRun()
  await assert.rejects(call({ url: origin }, run))
  assert.deepEqual(run.lines, ['out of paper'])
})

test('Retry-After is passed on, in seconds or as a date, and capped at a day', async (context) => {
  let after = ''
  const { origin } = await endpoint(context, (_, response) => response.writeHead(503, { 'retry-after': after }).end())
  const asked = async (value: string): Promise<number | undefined> => {
    after = value
    const error = await call({ url: origin }).catch((caught: unknown) => caught)
    return (error as { retryAfterMs?: number }).retryAfterMs
  }
  assert.equal(await asked('0'), 0)
  assert.equal(await asked('120'), 120_000)
  assert.equal(await asked('999999999'), 86_400_000)
  assert.equal(await asked('Fri, 31 Dec 1999 23:59:59 GMT'), 0)
  const inAnHour = (await asked(new Date(Date.now() + 3_600_000).toUTCString()))!
  assert.ok(inAnHour > 3_000_000 && inAnHour <= 3_600_000, String(inAnHour))
  assert.equal(await asked('Fri, 31 Dec 9999 23:59:59 GMT'), 86_400_000)
  for (const nonsense of ['soon', '-1', '1.5', '2027-01-01', '1e9'])
    assert.equal(await asked(nonsense), undefined, nonsense)
})

test('an error contains no secrets: no path, no query, no credentials, no header', async (context) => {
  const { origin, arrived } = await endpoint(context, answers(500))
  const url = `${origin.replace('//', '//ada:pa%20ss@')}/hooks/T0K3N?key=s3cr3t#frag`
  await assert.rejects(call({ url, headers: { 'x-api-key': 'k3y' } }), (error: Error & { hint?: string }) => {
    assert.doesNotMatch(`${error.message} ${error.hint} ${error.stack}`, /pa.*ss@|T0K3N|s3cr3t|k3y|ada/)
    return true
  })
  assert.equal(arrived[0]!.headers.authorization, `Basic ${Buffer.from('ada:pa ss').toString('base64')}`)
  assert.equal(arrived[0]!.path, '/hooks/T0K3N?key=s3cr3t')
})

test('network errors are retried: no listener, a connection that breaks before or within the answer', async (context) => {
  const closed = createServer((socket) => socket.destroy())
  const half = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'))
  })
  const garbage = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end('SSH-2.0-OpenSSH\r\n'))
  })
  for (const server of [closed, half, garbage]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    context.after(() => server.close())
    const { port } = server.address() as { port: number }
    await assert.rejects(call({ url: `http://127.0.0.1:${port}` }), { code: 'HTTP_FAILED', retryable: true })
  }
  const gone = await endpoint(context, answers(200))
  const unused = createServer()
  await new Promise<void>((resolve) => unused.listen(0, '127.0.0.1', resolve))
  const { port } = unused.address() as { port: number }
  await new Promise<void>((resolve) => unused.close(() => resolve()))
  await assert.rejects(call({ url: `http://127.0.0.1:${port}` }), {
    code: 'HTTP_FAILED',
    message: `POST to 127.0.0.1:${port} failed: ECONNREFUSED.`,
  })
  await assert.rejects(call({ url: 'http://no-such-host.invalid/' }), { code: 'HTTP_FAILED', retryable: true })
  assert.equal(gone.arrived.length, 0)
})

test('an answer in another protocol is a failure, and its connection is closed', {
  timeout: 600_000,
}, async (context) => {
  const closed = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('close', () => closed.resolve())
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    )
    context.after(() => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => server.close())
  const { port } = server.address() as { port: number }
  await assert.rejects(call({ url: `http://127.0.0.1:${port}` }), { code: 'HTTP_FAILED', retryable: true })
  await closed.promise
})

test('when the run is to end, the connection is cut and the reason is what is thrown', async (context) => {
  let cutOff = Promise.withResolvers<void>()
  let waiting = Promise.withResolvers<void>()
  const { origin } = await endpoint(context, (arrived, response) => {
    response.once('close', cutOff.resolve)
    if (arrived.path === '/body') response.writeHead(200).write('begun')
    waiting.resolve()
  })
  for (const path of ['/', '/body']) {
    cutOff = Promise.withResolvers()
    waiting = Promise.withResolvers()
    const stop = new AbortController()
    const calling = call({ url: origin + path }, targetRun({ signal: stop.signal }))
    await waiting.promise
    const reason = new Error('timeout')
    stop.abort(reason)
    await assert.rejects(calling, (error) => error === reason)
    await cutOff.promise
  }
  const before = AbortSignal.abort(new Error('before'))
  await assert.rejects(call({ url: origin }, targetRun({ signal: before })), { message: 'before' })
})

test('an answer without end is read up to its bound, and the result keeps the status and a part', async (context) => {
  const { origin } = await endpoint(context, (arrived, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    if (arrived.path === '/json') return void response.end(JSON.stringify('ä'.repeat(20_000)))
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    }
    response.on('drain', more)
    more()
  })
  const endless = (await call({ url: origin })) as { status: number; body: string }
  assert.equal(endless.status, 200)
  assert.match(endless.body, /^x{1000,}… \(cut\)$/)
  const long = (await call({ url: `${origin}/json` })) as { status: number; body: string }
  assert.ok(Buffer.byteLength(JSON.stringify(long)) <= 16_384)
  assert.match(long.body, /^"ä{1000,}… \(cut\)$/)
  assert.deepEqual(await call({ url: origin, maxResponse: 10 }), { status: 200, body: 'xxx… (cut)' })
})

test('after 202 and with a call-back the run is parked; any other success is the end', async (context) => {
  let status = 202
  const { origin, arrived } = await endpoint(context, (_, response) => response.writeHead(status).end())
  const callback = { url: 'https://cron.example.com/base/', within: '2h' } as const
  const run = targetRun({ fire: { ...targetRun().fire, schedule: 'a/b ü' } })
  assert.deepEqual(
    { ...((await call({ url: origin, secret: SECRET, callback }, run)) as object) },
    { parkMs: 7_200_000 },
  )
  const [{ headers, body }] = arrived as [(typeof arrived)[0]]
  assert.equal(headers['cronce-callback'], 'https://cron.example.com/base/callbacks/a%2Fb%20%C3%BC/17592186044417')
  const delivery = await verify({ headers, body }, { secret: SECRET })
  assert.equal(delivery.callback?.url, headers['cronce-callback'])
  const leftMs = delivery.callback!.byAt - Date.now()
  assert.ok(leftMs > 6_000_000 && leftMs <= 7_200_000, String(leftMs))
  for (const [schedule, part] of [
    ['.', '=.'],
    ['..', '=..'],
    ['=.', '%3D.'],
  ] as const) {
    await call({ url: origin, secret: SECRET, callback }, targetRun({ fire: { ...run.fire, schedule } }))
    const url = arrived.at(-1)!.headers['cronce-callback'] as string
    assert.equal(new URL(url).pathname, `/base/callbacks/${part}/17592186044417`)
  }
  assert.deepEqual(await call({ url: origin }), { status: 202, body: null })
  status = 200
  assert.deepEqual(await call({ url: origin, secret: SECRET, callback }), { status: 200, body: null })
})
