import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as openSocket, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { sign } from 'cronce/signature'
import { bearerAccess, loopbackAccess, serve } from '../src/index.ts'
import { apiOf, ask, codeOf, eventually } from './kit.ts'
import { EventReader } from './kit-events.ts'

/** Sends bytes as they are, and answers the status. */
async function statusOf(port: number, ...lines: readonly string[]): Promise<string> {
  const socket = openSocket(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write([...lines, '', ''].join('\r\n'))
  let answer = ''
  for await (const chunk of socket) answer += chunk
  return answer.split(' ')[1] ?? ''
}

const STORE = '/api/v1/store'

describe('a loopback API', () => {
  test('is closed to what reaches it by way of a proxy or a port-forward', async (context) => {
    const { handler } = apiOf(context, { access: loopbackAccess() })
    const served = await serve(handler, { port: 0 })
    context.after(() => served.close())
    const { port } = served
    const own = `Host: 127.0.0.1:${port}`
    const status = (...headers: readonly string[]): Promise<string> =>
      statusOf(port, `GET ${STORE} HTTP/1.1`, 'Connection: close', ...headers)
    assert.equal(await status(own), '200')
    assert.equal(await status(`Host: localhost:${port}`, 'User-Agent: curl/8.5.0', 'Accept: */*'), '200')
    // What `proxy_pass http://127.0.0.1:7070;` sends, with no other directive.
    const nginx = await statusOf(port, `GET ${STORE} HTTP/1.0`, own, 'Connection: close', 'User-Agent: curl/8.5.0')
    assert.equal(nginx, '401', 'nginx')
    // `ssh -R 9000:127.0.0.1:7070`, `kubectl port-forward svc 9000:7070`, as seen from the other end.
    for (const host of ['localhost:9000', '127.0.0.1:9000', 'localhost', 'bastion.example:9000']) {
      assert.equal(await status(`Host: ${host}`), '401', host)
    }
    const passedOn = [
      'Forwarded: for=192.0.2.1',
      'Via: 1.1 proxy',
      'X-Forwarded-For: 192.0.2.1',
      'X-Forwarded-Host: ops.example',
      'X-Real-IP: 192.0.2.1',
      'X-Client-IP: 192.0.2.1',
      'X-Cluster-Client-IP: 192.0.2.1',
      'X-Original-Forwarded-For: 192.0.2.1',
      'X-Original-URL: /ops',
      'X-Envoy-External-Address: 192.0.2.1',
      'CF-Connecting-IP: 192.0.2.1',
      'True-Client-IP: 192.0.2.1',
      'Fly-Client-IP: 192.0.2.1',
      'CDN-Loop: cdn',
      'X-Amzn-Trace-Id: Root=1',
      'Max-Forwards: 9',
      'Proxy-Connection: keep-alive',
      'Origin: https://ops.example',
      'Referer: https://ops.example/dashboard',
    ]
    for (const header of passedOn) assert.match(await status(own, header), /^40[13]$/, header)
  })
})

describe('a page of another site', () => {
  test('opens no stream and reads nothing, however it asks', async (context) => {
    const { handler } = apiOf(context, { access: loopbackAccess(), streams: 2 })
    const code = async (path: string, headers: Record<string, string>): Promise<string> => {
      const response = await handler(
        new Request(`http://localhost${path}`, { headers: { host: 'localhost', ...headers } }),
      )
      if (response.status === 200) await response.body?.cancel()
      return String(response.status)
    }
    const page = { referer: 'https://evil.example/' }
    const asked: readonly Record<string, string>[] = [
      // An EventSource or fetch; an image or script; a frame; a window; and browsers that send fewer headers.
      { ...page, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      page,
    ]
    for (const headers of asked) {
      assert.match(await code('/api/v1/events', headers), /^40[13]$/, JSON.stringify(headers))
      assert.equal(handler.listening, 0)
    }
    const own = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', referer: 'http://localhost/' }
    for (const headers of [{}, own, { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }])
      assert.equal(await code('/api/v1/events', headers), '200', JSON.stringify(headers))
  })

  test('is refused wherever the access comes from what the browser adds by itself', async (context) => {
    const { ask } = apiOf(context)
    const image = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
    assert.equal(codeOf(await ask('GET', STORE, { headers: image })), '403 ORIGIN_REFUSED')
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    assert.equal(codeOf(await ask('GET', STORE, { headers: link })), '200', 'a link that a user follows')
    assert.equal(codeOf(await ask('GET', '/api/v1/events', { headers: link })), '403 ORIGIN_REFUSED')
  })
})

test('connections that never finish a request keep no other client out', { timeout: 60_000 }, async (context) => {
  const { handler } = apiOf(context)
  const served = await serve(handler, { port: 0, connections: 8 })
  context.after(() => served.close())
  const stream = new EventReader(await fetch(`${served.url}/api/v1/events`))
  await stream.until('ready')
  const open = new Set<Socket>()
  context.after(() => {
    for (const socket of open) socket.destroy()
  })
  const hold = async (): Promise<void> => {
    const socket = openSocket({ port: served.port, host: '127.0.0.1', localAddress: '127.0.0.2' })
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    await once(socket, 'connect')
    open.add(socket)
    socket.write('POST /api/v1/fires HT')
  }
  for (let round = 0; round < 5; round++) {
    for (let held = 0; held < 10; held++) await hold()
    const own = `Host: 127.0.0.1:${served.port}`
    assert.equal(await statusOf(served.port, 'GET /healthz HTTP/1.1', own, 'Connection: close'), '200')
  }
  await eventually(async () => open.size <= 8)
  assert.equal(handler.listening, 1, 'a request under way is not given up')
})

describe('anonymous connections that send their bodies slowly', () => {
  const TOKEN = 'fire-token-0123456789'
  const SECRET = 'fire-secret-0123456789'

  test('keep out no delivery: a token is judged before the body, and the oldest of them give way to a signature', async (context) => {
    const { app, handler } = apiOf(context, { fires: { token: TOKEN, secret: SECRET } })
    app.job('s', {}, () => {})
    await app.start()
    const served = await serve(handler, { port: 0 })
    context.after(() => served.close())
    const sockets = Array.from({ length: 300 }, (_, index) => {
      const socket = openSocket(served.port, '127.0.0.1')
      socket.on('error', () => {})
      // Some pretend to have a signature, the others a token.
      const proof = index % 2 === 0 ? `cronce-signature: t=1,v1=${'a'.repeat(64)}` : 'authorization: Bearer wrong'
      const head = [
        `POST /api/v1/${index % 3 === 0 ? 'callbacks/s/1' : 'fires?schedule=s'} HTTP/1.1`,
        'host: localhost',
      ]
      socket.write([...head, proof, 'content-length: 100', '', '{'].join('\r\n'))
      return socket
    })
    context.after(() => sockets.forEach((socket) => void socket.destroy()))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const url = `${served.url}/api/v1/fires?schedule=s`
    const bearer = await fetch(`${url}&id=one`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: '{}',
    })
    assert.match(String(bearer.status), /^20[02]$/, await bearer.text())
    const body = JSON.stringify({ schedule: 's', id: 'two' })
    const headers = await sign({ headers: { 'content-type': 'application/json' }, body }, { secret: SECRET })
    const answer = await fetch(`${served.url}/api/v1/fires`, { method: 'POST', headers, body })
    assert.match(String(answer.status), /^20[02]$/, await answer.text())
  })
})

describe('an idempotency key', () => {
  const [ADA, BOB] = ['token-of-ada-0123456789', 'token-of-bob-0123456789']

  test('belongs to its sender: another client does not get its answer, and may use the same key', async (context) => {
    const { app, handler } = apiOf(context, { access: bearerAccess({ operate: [ADA, BOB] }) })
    await app.schedules.create('s', { job: 'j', every: '1h' })
    await app.schedules.create('t', { job: 'j', every: '1h' })
    const post = (token: string, path: string, body: unknown) =>
      ask(handler, 'POST', `/api/v1/schedules/${path}`, {
        headers: { 'idempotency-key': 'key-1', authorization: `Bearer ${token}` },
        body,
      })
    const first = await post(ADA, 's/pause', { note: 'of ada' })
    assert.equal((await post(ADA, 's/pause', { note: 'of ada' })).headers.get('idempotency-replayed'), 'true')
    const other = await post(BOB, 't/pause', { note: 'of bob' })
    assert.deepEqual([other.status, other.body.pause.note], [200, 'of bob'])
    const same = await post(BOB, 's/pause', { note: 'of ada' })
    assert.notEqual(same.headers.get('idempotency-replayed'), 'true')
    assert.equal(first.status, 200)
    const triggers = [
      await post(ADA, 's/trigger', {}),
      await post(BOB, 's/trigger', {}),
      await post(ADA, 's/trigger', {}),
    ]
    assert.deepEqual(
      triggers.map(({ body }) => body.created),
      [true, true, false],
    )
  })

  test('is scoped by the author that an access function names', async (context) => {
    const access = (request: Request) => ({ level: 'operate', author: request.headers.get('x-user') ?? '' }) as const
    const { app, handler } = apiOf(context, { access })
    await app.schedules.create('s', { job: 'j', every: '1h' })
    const trigger = async (user: string): Promise<boolean> => {
      const headers = { 'idempotency-key': 'key-1', 'x-user': user }
      return (await ask(handler, 'POST', '/api/v1/schedules/s/trigger', { headers })).body.created
    }
    assert.deepEqual([await trigger('ada'), await trigger('bob'), await trigger('ada')], [true, true, false])
  })
})

test('a probe answers with any query', async (context) => {
  const { ask } = apiOf(context)
  for (const path of ['/livez?x', '/healthz?a=1&a=2', '/livez?%ff', '/readyz?verbose'])
    assert.equal(codeOf(await ask('GET', path)), '200', path)
})
