import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bearerAccess, createHandler, loopbackAccess } from '../src/index.ts'
import { ROUTES } from '../src/routes/all.ts'
import type { Route } from '../src/routes/route.ts'
import { apiOf, ask, codeOf } from './kit.ts'

const READ = 'read-token-0123456789'
const METRICS = 'metrics-token-0123456789'
const OPERATE = 'operate-token-0123456789'

function pathOf({ path }: Route): string {
  return path.replaceAll(/:\w+/g, '1')
}

describe('access', () => {
  test('without a decision is closed for everything but the probes and what brings its own proof', async (context) => {
    const { app } = apiOf(context)
    const handler = createHandler(app)
    for (const route of ROUTES) {
      const code = codeOf(await ask(handler, route.method, pathOf(route)))
      if (route.access === 'open') assert.equal(code, '200')
      else if (route.access === 'own') assert.match(code, /^401 (FIRE|CALLBACK)_AUTH_MISSING$/)
      else assert.equal(code, '403 ACCESS_CLOSED', `${route.method} ${route.path}`)
    }
  })

  test('by a token for Prometheus: it sees the metrics, and nothing else', async (context) => {
    const { handler } = apiOf(context, { access: bearerAccess({ metrics: METRICS, read: READ }) })
    const codes = async (route: Route, token: string): Promise<string> => {
      const headers = { authorization: `Bearer ${token}` }
      return codeOf(await ask(handler, route.method, pathOf(route), { headers }))
    }
    for (const route of ROUTES.filter(({ access }) => access !== 'open' && access !== 'own')) {
      const name = `${route.method} ${route.path}`
      const isMetrics = route.path.startsWith('/metrics')
      assert.equal(route.access === 'metrics', isMetrics, name)
      assert.equal(await codes(route, METRICS), isMetrics ? '200' : '403 ACCESS_METRICS_ONLY', name)
      if (!isMetrics) continue
      assert.equal(await codes(route, READ), '200', name)
      assert.equal(await codes(route, 'wrong'), '401 ACCESS_DENIED', name)
    }
  })

  test('by bearer tokens: none sees nothing, read changes nothing, operate does all', async (context) => {
    const { handler } = apiOf(context, { access: bearerAccess({ read: READ, operate: [OPERATE, `${OPERATE}-new`] }) })
    const codes = async (route: Route, token: string | null): Promise<string> => {
      const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
      // The stream would never end.
      if (route.type === 'text/event-stream') {
        const response = await handler(new Request(`http://localhost${route.path}`, { headers }))
        await response.body?.cancel()
        return String(response.status)
      }
      return codeOf(await ask(handler, route.method, pathOf(route), { headers }))
    }
    for (const route of ROUTES.filter(({ access }) => access === 'read' || access === 'operate')) {
      const name = `${route.method} ${route.path}`
      for (const wrong of [null, 'wrong', `${OPERATE}x`, OPERATE.slice(0, -1)]) {
        assert.match(await codes(route, wrong), /^401/, name)
      }
      const read = await codes(route, READ)
      if (route.access === 'operate') assert.equal(read, '403 ACCESS_READ_ONLY', name)
      else assert.match(read, /^(200|40[04])/, name)
      for (const token of [OPERATE, `${OPERATE}-new`])
        assert.doesNotMatch(await codes(route, token), /^(401|403|5)/, name)
    }
    const denied = await ask(handler, 'GET', '/api/v1/store')
    assert.equal(denied.headers.get('www-authenticate'), 'Bearer')
    for (const scheme of [`Basic ${OPERATE}`, `Bearer ${OPERATE} x`, `Bearer${OPERATE}`]) {
      const asked = await ask(handler, 'GET', '/api/v1/store', { headers: { authorization: scheme } })
      assert.equal(asked.status, 401, scheme)
    }
    assert.equal(
      (await ask(handler, 'GET', '/api/v1/store', { headers: { authorization: `bearer  ${READ}` } })).status,
      200,
    )
  })

  test('tokens that could be guessed, or none at all, are refused when the handler is made', () => {
    for (const tokens of [{}, { read: '' }, { operate: 'short' }, { read: [] }, { operate: `${OPERATE} ${OPERATE}` }]) {
      assert.throws(() => bearerAccess(tokens), { code: 'OPTION_INVALID' })
    }
  })

  test('an access function that fails or returns nonsense grants nothing', async (context) => {
    const said: string[] = []
    const logger = { error: (message: string): void => void said.push(message) }
    const broken = apiOf(context, {
      logger,
      access: () => {
        throw new Error('directory is down: secret')
      },
    })
    const asked = await broken.ask('GET', '/api/v1/store')
    assert.equal(codeOf(asked), '500 INTERNAL')
    assert.doesNotMatch(JSON.stringify(asked.body), /secret/)
    assert.ok(said.some((message) => message.includes(asked.body.error.id) && message.includes('directory is down')))
    for (const answer of [true, undefined, 'admin', {}]) {
      const { ask } = apiOf(context, { access: () => answer as 'none' })
      assert.equal(codeOf(await ask('GET', '/api/v1/store')), '401 ACCESS_DENIED')
    }
  })

  test('may return a name, which is recorded instead of the name in the request', async (context) => {
    const { app, ask } = apiOf(context, { access: async () => ({ level: 'operate', author: 'ada' }) })
    await app.schedules.create('s', { job: 'j', every: '1h' })
    const paused = await ask('POST', '/api/v1/schedules/s/pause', { body: { author: 'somebody else', note: 'why' } })
    assert.deepEqual([paused.body.pause.author, paused.body.pause.note], ['ada', 'why'])
    assert.equal((await ask('POST', '/api/v1/schedules/s/trigger')).body.fire.asked.author, 'ada')
    const seeing = apiOf(context, { access: () => ({ level: 'read', author: 'bob' }) })
    assert.equal(codeOf(await seeing.ask('POST', '/api/v1/schedules/s/pause')), '403 ACCESS_READ_ONLY')
  })

  test('on loopback is for clients that name this machine, and not for what a proxy passes on', async (context) => {
    const { handler } = apiOf(context, { access: loopbackAccess() })
    const status = async (headers: Record<string, string>, url = 'http://127.0.0.1:7070'): Promise<number> =>
      (await handler(new Request(`${url}/api/v1/store`, { headers }))).status
    for (const host of ['localhost', 'localhost:7070', '127.0.0.1:7070', '127.1.2.3', '[::1]:7070', 'a.localhost']) {
      assert.equal(await status({ host }), 200, host)
    }
    const strangers = ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '127.0.0.1@evil', '10.0.0.1']
    for (const host of [...strangers, '', '[::2]', 'notlocalhost', '0.0.0.0'])
      assert.equal(await status({ host }), 401, host)
    assert.equal(await status({}), 200)
    assert.equal(await status({}, 'http://evil.example'), 401)
    for (const header of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-proto', 'x-real-ip']) {
      assert.equal(await status({ host: 'localhost', [header]: '1' }), 401, header)
    }
  })
})

describe('a page of another site', () => {
  const pause = '/api/v1/schedules/s/pause'

  test('changes nothing with any request', async (context) => {
    const { app, handler } = apiOf(context)
    await app.schedules.create('s', { job: 'j', every: '1h' })
    const code = async (headers: Record<string, string>, method = 'POST', path = pause): Promise<string> =>
      codeOf(await ask(handler, method, path, { headers: { host: 'ops.example', ...headers } }))
    const refused: readonly Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'https://ops.example.evil.example' },
      { origin: 'https://ops.example:8443' },
      { origin: 'nonsense' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: 'https://ops.example' },
    ]
    for (const headers of refused) {
      assert.equal(await code(headers), '403 ORIGIN_REFUSED', JSON.stringify(headers))
      assert.equal(await code(headers, 'DELETE', '/api/v1/schedules/s'), '403 ORIGIN_REFUSED')
      assert.equal(await code(headers, 'PUT', '/api/v1/schedules/s'), '403 ORIGIN_REFUSED')
    }
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonx',
    ]) {
      assert.equal(await code({ 'content-type': type }), '415 BODY_TYPE_REFUSED')
    }
    assert.equal((await app.schedules.get('s')).state, 'active')
    const own: readonly Record<string, string>[] = [
      {},
      { origin: 'https://ops.example' },
      { origin: 'http://ops.example:80' },
      { 'sec-fetch-site': 'same-origin', origin: 'https://public.name.example' },
    ]
    for (const headers of own) assert.equal(await code(headers), '200', JSON.stringify(headers))
  })

  test('that was allowed may, and browsers get the headers; others get none', async (context) => {
    const allowed = 'https://ops.example.com'
    const { app, handler } = apiOf(context, { allowedOrigins: [allowed] })
    await app.schedules.create('s', { job: 'j', every: '1h' })
    const from = (origin: string): Record<string, string> => ({ origin, 'sec-fetch-site': 'cross-site' })
    const done = await ask(handler, 'POST', pause, { headers: from(allowed) })
    assert.deepEqual([done.status, done.headers.get('access-control-allow-origin')], [200, allowed])
    const preflight = async (origin: string): Promise<Response> =>
      handler(
        new Request(`http://localhost${pause}`, {
          method: 'OPTIONS',
          headers: { ...from(origin), 'access-control-request-method': 'POST' },
        }),
      )
    const asked = await preflight(allowed)
    assert.equal(asked.status, 204)
    assert.match(asked.headers.get('access-control-allow-headers')!, /content-type/)
    const other = await preflight('https://evil.example')
    assert.deepEqual([other.status, other.headers.get('access-control-allow-origin')], [405, null])
    const seen = await ask(handler, 'GET', '/api/v1/store', { headers: from('https://evil.example') })
    assert.equal(seen.headers.get('access-control-allow-origin'), null)
    assert.throws(() => createHandler(app, { allowedOrigins: ['https://x.example/path'] }), { code: 'OPTION_INVALID' })
    assert.throws(() => createHandler(app, { allowedOrigins: ['*'] }), { code: 'OPTION_INVALID' })
  })
})
